// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/program_judge.h"

#include <algorithm>

#include "driver/compiler/compile.h"
#include "driver/graph/builder.h"
#include "driver/graph/byte_stream.h"
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

program_file::ProgramFile compiled_seed(const graph::Graph& network, const std::string& name) {
  program_file::ProgramFile file;
  file.capabilities = seed_machine();
  file.machine_name = "seed";
  file.network = name;
  file.network_sha256 = std::string(64, '0');
  file.program = compiler::compile(network, file.capabilities);
  return file;
}

}  // namespace

std::vector<program_file::ProgramFile> program_seeds() {
  return {compiled_seed(running_sum_graph(), "running_sum.tosa"),
          compiled_seed(graph::samples::nested_control_flow(), "nested_control_flow.tosa"),
          compiled_seed(graph::samples::network(), "network.tosa")};
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
