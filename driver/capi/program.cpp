// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <utility>

#include "driver/capi/handles.h"
#include "driver/compiler/compile.h"
#include "driver/graph/file.h"
#include "driver/graph/reader.h"
#include "driver/graph/resolve.h"
#include "driver/program_file/program_file.h"

using npu::capi::guarded;
using npu::capi::misuse;
using npu::capi::need;

namespace {

// What the reader takes of a file; for memory, checked before it is copied.
constexpr size_t kMostBytes = size_t{1} << 31;

// Enough to tell a network from a compiled program.
constexpr uintmax_t kHeadBytes = 16;

npu_program* load_graph(npu_context& context, npu::graph::Graph file) {
  const npu::graph::Graph graph = npu::graph::static_form(std::move(file));
  npu::compiler::Options options;
  options.schedule.two_places = context.double_buffer;
  options.firmware = context.device.has_firmware();
  npu::compiler::Program compiled = npu::compiler::compile(graph, context.device.capabilities(), options);
  return new npu_program{context.context.load(std::move(compiled))};
}

npu_program* load_compiled(npu_context& context, npu::program_file::ProgramFile file) {
  npu::program_file::require_device(file, context.device.capabilities());
  npu::program_file::require_places(file, context.double_buffer);
  npu::program_file::require_fixed_sizes(file, "the C API");
  return new npu_program{context.context.load(std::move(file.programs.front()))};
}

npu_status describe_port(const npu_program* program, bool input, size_t index, npu_tensor_info* info,
                         const char* function, npu_error** error) {
  return guarded(error, [&] {
    const npu::compiler::Program& compiled = need(program, function, "program").program.program();
    const auto& ports = input ? compiled.inputs : compiled.outputs;
    if (index >= ports.size()) misuse(function, fmt::format("index is {}, but there are {}", index, ports.size()));
    const npu::compiler::Port& port = ports[index];
    npu_tensor_info told{};
    told.name = port.name.c_str();
    told.type = static_cast<npu_dtype>(port.type);
    told.rank = static_cast<uint32_t>(port.shape.size());
    told.shape = port.shape.data();
    told.bytes = port.bytes;
    told.accepts_unsigned = port.accepts_unsigned;
    npu::capi::give(told, info, function, "npu_tensor_info");
  });
}

}  // namespace

npu_status npu_program_load_file(npu_context* context, const char* path, npu_program** program, npu_error** error) {
  return guarded(error, [&] {
    constexpr const char* kFunction = "npu_program_load_file";
    need(program, kFunction, "program") = nullptr;
    npu_context& owner = need(context, kFunction, "context");
    const std::filesystem::path file = &need(path, kFunction, "path");
    const bool compiled = npu::program_file::is_program_file(npu::graph::read_head(file, UINTMAX_MAX, kHeadBytes));
    *program =
        compiled ? load_compiled(owner, npu::program_file::read(file)) : load_graph(owner, npu::graph::read_tosa(file));
  });
}

npu_status npu_program_load_memory(npu_context* context, const void* bytes, size_t size, const char* name,
                                   npu_program** program, npu_error** error) {
  return guarded(error, [&] {
    constexpr const char* kFunction = "npu_program_load_memory";
    need(program, kFunction, "program") = nullptr;
    npu_context& owner = need(context, kFunction, "context");
    npu::capi::need_bytes(bytes, size, kFunction);
    if (size > kMostBytes) {
      throw npu::Error(
          npu::contract::ErrorCode::kBudgetExceeded,
          fmt::format("{}: {} bytes are more than the {} that a file may have", kFunction, size, kMostBytes));
    }
    const auto* data = static_cast<const uint8_t*>(bytes);
    if (npu::program_file::is_program_file({data, size})) {
      *program = load_compiled(owner, npu::program_file::parse({data, size}, name == nullptr ? "the program" : name));
      return;
    }
    const auto file = std::make_shared<const std::vector<uint8_t>>(data, data + size);
    *program = load_graph(owner, npu::graph::parse_tosa(file, name == nullptr ? "the network" : name));
  });
}

void npu_program_destroy(npu_program* program) { delete program; }

size_t npu_program_input_count(const npu_program* program) {
  return program == nullptr ? 0 : program->program.program().inputs.size();
}

size_t npu_program_output_count(const npu_program* program) {
  return program == nullptr ? 0 : program->program.program().outputs.size();
}

npu_status npu_program_input(const npu_program* program, size_t index, npu_tensor_info* info, npu_error** error) {
  return describe_port(program, true, index, info, "npu_program_input", error);
}

npu_status npu_program_output(const npu_program* program, size_t index, npu_tensor_info* info, npu_error** error) {
  return describe_port(program, false, index, info, "npu_program_output", error);
}

npu_status npu_program_get_info(const npu_program* program, npu_program_info* info, npu_error** error) {
  return guarded(error, [&] {
    const npu::runtime::LoadedProgram& loaded = need(program, "npu_program_get_info", "program").program;
    const npu::compiler::Program& compiled = loaded.program();
    npu_program_info told{};
    told.dram_bytes = loaded.dram_bytes();
    told.scratchpad_bytes = compiled.spm_peak_bytes;
    told.command_count = compiled.command_count;
    told.layer_count = static_cast<uint32_t>(compiled.layers.size());
    told.segment_count = static_cast<uint32_t>(compiled.segments.size());
    told.blocking_cycles = loaded.blocking_cycles();
    npu::capi::give(told, info, "npu_program_get_info", "npu_program_info",
                    offsetof(npu_program_info, blocking_cycles));
  });
}
