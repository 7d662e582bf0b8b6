// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/program_judge.h"

#include <algorithm>
#include <map>
#include <span>
#include <vector>

#include "driver/compiler/compile.h"
#include "driver/graph/builder.h"
#include "driver/graph/byte_stream.h"
#include "hw/contract/stream.h"
#include "tests/unit/compiler/size_rule.h"
#include "tests/unit/graph/samples.h"

namespace npu::fuzz {
namespace {

using contract::ErrorCode;

constexpr size_t kFrameHeader = 24, kFrameChecksum = 4;

// A machine like the smallest preset, so that judging needs no file of it.
contract::Capabilities seed_machine() {
  contract::Capabilities caps;
  for (const contract::CapabilityInfo& info : contract::kCapabilities) caps.*info.member = info.min;
  caps.clock_mhz = 100;
  caps.mxu_cols = caps.mxu_depth = 8;
  caps.spm_bytes = 65536;
  caps.psram_bytes = 4096;
  caps.psram_port_bytes = 16;
  caps.var_entries = 16;
  caps.vpu_lanes = 8;
  caps.vpu_registers = 16;
  caps.vpu_table_bytes = 8192;
  caps.dram_mib = 16;
  return caps;
}

// x INT8[1, 4] -> y INT8[1, 4], added to a variable that starts with values.
graph::Graph running_sum_graph() {
  graph::GraphBuilder b;
  const graph::TensorId x = b.input("x", graph::DType::kInt8, {1, 4});
  const graph::TensorId state = b.variable("sum/state", graph::DType::kInt8, {1, 4}, std::vector<double>{1, 2, 3, 4});
  const graph::TensorId wide = b.add(b.cast(b.read(state), graph::DType::kInt32), b.cast(x, graph::DType::kInt32));
  const graph::TensorId sum = b.cast(wide, graph::DType::kInt8);
  b.write(state, sum);
  b.output(sum, "y");
  return b.build();
}

// The running sum for 1 to 4 elements, by hand: its transfers move fewer bytes, and the last operation is skipped or
// not.
program_file::ProgramFile sized_seed(program_file::ProgramFile file) {
  using Operation = contract::SizeOperation;
  compiler::Program& program = file.programs[0];
  compiler::SizeTable& table = program.sizes;
  table.symbols = {{"x.1", 1, 4}};
  table.expressions = {{Operation::kConstant, 0, 4}, {Operation::kDivCeil, 0, 1}};
  table.conditions = {{contract::SizeRelation::kAtLeast, 1, 0, "x.1 must be at most 4"}};
  table.results = {0, 2};
  size_t at = 0;
  std::map<uint32_t, std::vector<uint32_t>> same;  // words of the same content
  (void)contract::for_each_command(std::span(program.commands).first(program.main_words),
                                   [&](const contract::Header& header, auto) {
                                     if (header.opcode == contract::Opcode::kDma) {
                                       const auto word = static_cast<uint32_t>(at) + 1;
                                       same[program.commands[word]].push_back(word);
                                     }
                                     at += header.words;
                                     return true;
                                   });
  for (const auto& [word, places] : same) {
    const auto content = static_cast<int32_t>(word);
    table.rules.push_back(compiler::testing::rule_of(0, {{1, 0, content | 1 << 16}, {3, 0, content}}, places));
  }
  program.inputs[0].sizes = program.outputs[0].sizes = {-1, 0};
  return file;
}

// The same with a program of its own for 1 element.
program_file::ProgramFile bounded_seed(program_file::ProgramFile file) {
  compiler::Program& small = file.programs.emplace_back(file.programs[0]);
  file.programs[0].sizes.symbols[0].least = 2;
  small.sizes.symbols[0].most = 1;
  apply_rules(small.sizes, evaluate(small.sizes, std::vector<int64_t>{1}), small.commands);
  return file;
}

program_file::ProgramFile compiled_seed(const graph::Graph& network, const std::string& name) {
  program_file::ProgramFile file;
  file.capabilities = seed_machine();
  file.machine_name = "seed";
  file.network = name;
  file.network_sha256 = std::string(64, '0');
  file.programs = {compiler::compile(network, file.capabilities)};
  return file;
}

}  // namespace

std::vector<program_file::ProgramFile> program_seeds() {
  return {compiled_seed(running_sum_graph(), "running_sum.tosa"),
          compiled_seed(graph::samples::nested_control_flow(), "nested_control_flow.tosa"),
          compiled_seed(graph::samples::network(), "network.tosa"),
          sized_seed(compiled_seed(running_sum_graph(), "sized_sum.tosa")),
          bounded_seed(sized_seed(compiled_seed(running_sum_graph(), "bounded_sum.tosa")))};
}

std::span<const uint8_t> payload_in(std::span<const uint8_t> file) {
  if (file.size() < kFrameHeader + kFrameChecksum) return {};
  return file.subspan(kFrameHeader, file.size() - kFrameHeader - kFrameChecksum);
}

std::vector<uint8_t> resealed(std::span<const uint8_t> file, std::span<const uint8_t> payload) {
  const graph::FileKind none;
  graph::ByteReader header(file.first(kFrameHeader), none);
  const std::span<const uint8_t> magic = header.take(8);
  graph::FileKind kind;
  kind.magic = {reinterpret_cast<const char*>(magic.data()), magic.size()};
  kind.version = header.number<uint32_t>();
  kind.layout = header.number<uint32_t>();
  return graph::framed(kind, payload);
}

ProgramAnswer judge_program(std::span<const uint8_t> bytes) {
  ProgramAnswer answer;
  try {
    answer.file = program_file::parse(bytes);
  } catch (const Error& error) {
    answer.code = error.code();
    answer.message = error.what();
    NPU_CHECK(error.code() == ErrorCode::kFileDamaged || error.code() == ErrorCode::kContractMismatch);
    return answer;
  }
  const std::vector<uint8_t> again = program_file::serialise(*answer.file);
  NPU_CHECK(std::equal(again.begin(), again.end(), bytes.begin(), bytes.end()));
  return answer;
}

}  // namespace npu::fuzz
