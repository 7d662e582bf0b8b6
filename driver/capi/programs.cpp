// SPDX-License-Identifier: Apache-2.0
#include "driver/capi/programs.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "driver/capi/handles.h"

namespace npu::capi {
namespace {

using compiler::Program;

int32_t symbol_of(const Program& program, const compiler::Port& port, size_t dimension) {
  if (port.sizes.empty() || port.sizes[dimension] < 0) return NPU_SIZE_FIXED;
  const bool is_symbol = static_cast<size_t>(port.sizes[dimension]) < program.sizes.symbols.size();
  return is_symbol ? port.sizes[dimension] : NPU_SIZE_COMPUTED;
}

// Programs have the same ports, but for sizes.
std::vector<Port> ports_of(const std::vector<Program>& programs, std::vector<compiler::Port> Program::*ports) {
  std::vector<Port> all;
  for (size_t i = 0; i < (programs.front().*ports).size(); ++i) {
    const compiler::Port& first = (programs.front().*ports)[i];
    Port port{first, {}};
    for (size_t d = 0; d < first.shape.size(); ++d) port.symbols.push_back(symbol_of(programs.front(), first, d));
    for (const Program& program : programs) {
      const compiler::Port& other = (program.*ports)[i];
      if (other.bytes > port.largest.bytes) port.largest = other;
      for (size_t d = 0; d < port.symbols.size(); ++d) {
        // Some sizes make another one the same as a symbol.
        if (symbol_of(program, other, d) != port.symbols[d]) port.symbols[d] = NPU_SIZE_COMPUTED;
      }
    }
    all.push_back(std::move(port));
  }
  return all;
}

compiler::SizeTable sizes_of(const std::vector<Program>& programs) {
  compiler::SizeTable table;
  for (const compiler::SizeBounds& bounds : specialise::bounds_of(programs)) {
    table.symbols.push_back({bounds.name, static_cast<int32_t>(bounds.least), static_cast<int32_t>(bounds.most)});
  }
  return table;
}

npu_program_info info_of(const std::vector<Program>& programs, const runtime::Context& context) {
  npu_program_info info{};
  info.program_count = static_cast<uint32_t>(programs.size());
  for (const Program& program : programs) {
    info.scratchpad_bytes = std::max<uint64_t>(info.scratchpad_bytes, program.spm_peak_bytes);
    info.command_count = std::max(info.command_count, program.command_count);
    info.layer_count = std::max(info.layer_count, static_cast<uint32_t>(program.layers.size()));
    info.segment_count = std::max(info.segment_count, static_cast<uint32_t>(program.segments.size()));
    info.blocking_cycles = std::max(info.blocking_cycles, context.blocking_cycles(program));
  }
  return info;
}

}  // namespace

bool Port::is_open() const {
  return std::any_of(symbols.begin(), symbols.end(), [](int32_t symbol) { return symbol != NPU_SIZE_FIXED; });
}

const Port& port_at(const std::vector<Port>& ports, size_t index, const char* function) {
  if (index >= ports.size()) misuse(function, fmt::format("index is {}, but there are {}", index, ports.size()));
  return ports[index];
}

void give_port(const Port& port, const graph::Shape& shape, uint64_t bytes, npu_tensor_info* info,
               const char* function) {
  npu_tensor_info told{};
  told.name = port.largest.name.c_str();
  told.type = static_cast<npu_dtype>(port.largest.type);
  told.rank = static_cast<uint32_t>(shape.size());
  told.shape = shape.data();
  told.bytes = bytes;
  told.accepts_unsigned = port.largest.accepts_unsigned;
  told.symbols = port.symbols.data();
  give(told, info, function, "npu_tensor_info", {offsetof(npu_tensor_info, symbols)});
}

Programs::Programs(runtime::Context context, std::vector<Program> programs, bool firmware)
    : inputs_(ports_of(programs, &Program::inputs)),
      outputs_(ports_of(programs, &Program::outputs)),
      sizes_(sizes_of(programs)),
      info_(info_of(programs, context)),
      programs_(std::move(context), std::move(programs), firmware),
      largest_(programs_.largest()) {}

graph::GivenShapes Programs::given(const std::vector<graph::Shape>& shapes) const {
  graph::GivenShapes named;
  for (size_t i = 0; i < inputs_.size(); ++i) named.emplace(inputs_[i].largest.name, shapes.at(i));
  return named;
}

npu_program_info Programs::info() const {
  npu_program_info info = info_;
  const std::lock_guard lock(mutex_);
  for (const auto& loaded : programs_.loaded()) info.dram_bytes += loaded->program.dram_bytes();
  return info;
}

runtime::Job Programs::create_job(const runtime::JobOptions& options) const {
  return largest_->program.create_job(options);
}

void Programs::start(const std::vector<graph::Shape>& shapes,
                     const std::function<void(const runtime::LoadedProgram&)>& start) {
  const std::lock_guard lock(mutex_);
  for (const auto& loaded : programs_.loaded()) loaded->program.require_idle();
  start(programs_.get(given(shapes))->program);
}

}  // namespace npu::capi
