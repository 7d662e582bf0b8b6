// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "driver/capi/handles.h"
#include "driver/compiler/bounds.h"
#include "driver/compiler/compile.h"
#include "driver/graph/file.h"
#include "driver/graph/infer.h"
#include "driver/graph/reader.h"
#include "driver/graph/resolve.h"
#include "driver/graph/validate.h"
#include "driver/program_file/program_file.h"

using npu::capi::guarded;
using npu::capi::misuse;
using npu::capi::need;

namespace {

// What the reader takes of a file; for memory, checked before it is copied.
constexpr size_t kMostBytes = size_t{1} << 31;

// Enough to tell a network from a compiled program.
constexpr uintmax_t kHeadBytes = 16;

// What a caller gives beside a file.
using Bounds = std::vector<npu::compiler::SizeBounds>;

Bounds take_bounds(const npu_size_bounds* bounds, size_t count, const char* function) {
  if (bounds == nullptr && count > 0) misuse(function, "bounds is NULL");
  Bounds taken;
  for (size_t i = 0; i < count; ++i) {
    if (bounds[i].name == nullptr) misuse(function, fmt::format("bounds[{}].name is NULL", i));
    taken.push_back({bounds[i].name, bounds[i].least, bounds[i].most});
  }
  return taken;
}

npu_program* place(const npu_context& context, std::vector<npu::compiler::Program> programs) {
  return new npu_program{
      std::make_shared<npu::capi::Programs>(context.context, std::move(programs), context.device.has_firmware())};
}

npu::compiler::Options compiler_options(const npu_context& context) {
  npu::compiler::Options options;
  options.schedule.two_places = context.double_buffer;
  options.firmware = context.device.has_firmware();
  return options;
}

npu_program* load_graph(const npu_context& context, npu::graph::Graph file) {
  if (npu::graph::has_unknown_sizes(file)) {
    npu::graph::validate(file, npu::graph::Sizes::kMayBeUnknown);
    const npu::graph::GivenShapes inputs = npu::graph::decided_inputs(file);
    if (npu::graph::leave_open(inputs)) {
      throw npu::Error(npu::contract::ErrorCode::kFeatureUnsupported,
                       "the network leaves sizes of inputs open; give bounds for them with npu_program_load_bounds or "
                       "npu_program_load_file_bounds, or fix them with npu resolve");
    }
    file = npu::graph::resolve(file, inputs);
  }
  const npu::graph::Graph graph = npu::graph::static_form(std::move(file));
  return place(context, {npu::compiler::compile(graph, context.device.capabilities(), compiler_options(context))});
}

npu_program* load_graph_bounds(const npu_context& context, const npu::graph::Graph& file, const Bounds& bounds) {
  npu::graph::validate(file, npu::graph::Sizes::kMayBeUnknown);
  return place(context,
               npu::compiler::compile_bounds(file, bounds, context.device.capabilities(), compiler_options(context)));
}

npu_program* load_compiled(const npu_context& context, npu::program_file::ProgramFile file) {
  npu::program_file::require_device(file, context.device.capabilities());
  npu::program_file::require_places(file, context.double_buffer);
  return place(context, std::move(file.programs));
}

// Without `bounds` the sizes are fixed, or a compiled program has its own.
npu_program* load_file(const npu_context& context, const std::filesystem::path& path, const Bounds* bounds,
                       const char* function) {
  const bool compiled = npu::program_file::is_program_file(npu::graph::read_head(path, UINTMAX_MAX, kHeadBytes));
  if (compiled && bounds != nullptr) {
    misuse(function, "the file is a compiled program, which has its bounds; load it with npu_program_load_file");
  }
  if (compiled) return load_compiled(context, npu::program_file::read(path));
  npu::graph::Graph graph = npu::graph::read_tosa(path);
  return bounds == nullptr ? load_graph(context, std::move(graph)) : load_graph_bounds(context, graph, *bounds);
}

npu_program* load_memory(const npu_context& context, std::span<const uint8_t> bytes, const char* name,
                         const Bounds* bounds, const char* function) {
  if (bytes.size() > kMostBytes) {
    throw npu::Error(
        npu::contract::ErrorCode::kBudgetExceeded,
        fmt::format("{}: {} bytes are more than the {} that a file may have", function, bytes.size(), kMostBytes));
  }
  const bool compiled = npu::program_file::is_program_file(bytes);
  if (compiled && bounds != nullptr) {
    misuse(function, "the bytes are a compiled program, which has its bounds; load it with npu_program_load_memory");
  }
  if (compiled) {
    return load_compiled(context, npu::program_file::parse(bytes, name == nullptr ? "the program" : name));
  }
  const auto file = std::make_shared<const std::vector<uint8_t>>(bytes.begin(), bytes.end());
  npu::graph::Graph graph = npu::graph::parse_tosa(file, name == nullptr ? "the network" : name);
  return bounds == nullptr ? load_graph(context, std::move(graph)) : load_graph_bounds(context, graph, *bounds);
}

// Calls `load` for a program in the caller's context.
template <typename Load>
npu_status load_into(npu_context* context, npu_program** program, npu_error** error, const char* function,
                     const Load& load) {
  return guarded(error, [&] {
    need(program, function, "program") = nullptr;
    const npu_context& owner = need(context, function, "context");
    *program = load(owner);
  });
}

npu_status describe_port(const npu_program* program, bool input, size_t index, npu_tensor_info* info,
                         const char* function, npu_error** error) {
  return guarded(error, [&] {
    const npu::capi::Programs& programs = *need(program, function, "program").programs;
    const npu::capi::Port& port = npu::capi::port_at(input ? programs.inputs() : programs.outputs(), index, function);
    npu::capi::give_port(port, port.largest.shape, port.largest.bytes, info, function);
  });
}

}  // namespace

npu_status npu_program_load_file(npu_context* context, const char* path, npu_program** program, npu_error** error) {
  constexpr const char* kFunction = "npu_program_load_file";
  return load_into(context, program, error, kFunction, [&](const npu_context& owner) {
    return load_file(owner, &need(path, kFunction, "path"), nullptr, kFunction);
  });
}

npu_status npu_program_load_memory(npu_context* context, const void* bytes, size_t size, const char* name,
                                   npu_program** program, npu_error** error) {
  constexpr const char* kFunction = "npu_program_load_memory";
  return load_into(context, program, error, kFunction, [&](const npu_context& owner) {
    npu::capi::need_bytes(bytes, size, kFunction);
    return load_memory(owner, {static_cast<const uint8_t*>(bytes), size}, name, nullptr, kFunction);
  });
}

npu_status npu_program_load_file_bounds(npu_context* context, const char* path, const npu_size_bounds* bounds,
                                        size_t count, npu_program** program, npu_error** error) {
  constexpr const char* kFunction = "npu_program_load_file_bounds";
  return load_into(context, program, error, kFunction, [&](const npu_context& owner) {
    const char* const file = &need(path, kFunction, "path");
    const Bounds taken = take_bounds(bounds, count, kFunction);
    return load_file(owner, file, &taken, kFunction);
  });
}

npu_status npu_program_load_bounds(npu_context* context, const void* bytes, size_t size, const char* name,
                                   const npu_size_bounds* bounds, size_t count, npu_program** program,
                                   npu_error** error) {
  constexpr const char* kFunction = "npu_program_load_bounds";
  return load_into(context, program, error, kFunction, [&](const npu_context& owner) {
    npu::capi::need_bytes(bytes, size, kFunction);
    const Bounds taken = take_bounds(bounds, count, kFunction);
    return load_memory(owner, {static_cast<const uint8_t*>(bytes), size}, name, &taken, kFunction);
  });
}

void npu_program_destroy(npu_program* program) { delete program; }

size_t npu_program_input_count(const npu_program* program) {
  return program == nullptr ? 0 : program->programs->inputs().size();
}

size_t npu_program_output_count(const npu_program* program) {
  return program == nullptr ? 0 : program->programs->outputs().size();
}

npu_status npu_program_input(const npu_program* program, size_t index, npu_tensor_info* info, npu_error** error) {
  return describe_port(program, true, index, info, "npu_program_input", error);
}

npu_status npu_program_output(const npu_program* program, size_t index, npu_tensor_info* info, npu_error** error) {
  return describe_port(program, false, index, info, "npu_program_output", error);
}

size_t npu_program_symbol_count(const npu_program* program) {
  return program == nullptr ? 0 : program->programs->sizes().symbols.size();
}

npu_status npu_program_symbol(const npu_program* program, size_t index, npu_size_bounds* symbol, npu_error** error) {
  return guarded(error, [&] {
    constexpr const char* kFunction = "npu_program_symbol";
    const auto& symbols = need(program, kFunction, "program").programs->sizes().symbols;
    npu_size_bounds& out = need(symbol, kFunction, "symbol");
    if (index >= symbols.size()) {
      misuse(kFunction, fmt::format("index is {}, but there are {}", index, symbols.size()));
    }
    out = {symbols[index].name.c_str(), symbols[index].least, symbols[index].most};
  });
}

npu_status npu_program_get_info(const npu_program* program, npu_program_info* info, npu_error** error) {
  return guarded(error, [&] {
    constexpr const char* kFunction = "npu_program_get_info";
    npu::capi::give(need(program, kFunction, "program").programs->info(), info, kFunction, "npu_program_info",
                    {offsetof(npu_program_info, blocking_cycles), offsetof(npu_program_info, program_count)});
  });
}
