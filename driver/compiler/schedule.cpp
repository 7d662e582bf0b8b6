// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/schedule.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "driver/compiler/play/player.h"
#include "driver/compiler/room.h"
#include "driver/compiler/schedule/direct_writes.h"
#include "driver/compiler/schedule/dram.h"
#include "driver/compiler/schedule/encode.h"
#include "driver/compiler/schedule/explain.h"
#include "driver/compiler/schedule/last_writes.h"
#include "driver/compiler/schedule/liveness.h"
#include "driver/compiler/schedule/segments.h"
#include "driver/compiler/schedule/split.h"
#include "driver/compiler/schedule/state_plan.h"
#include "driver/compiler/schedule/variants.h"
#include "hw/contract/error.h"

namespace npu::compiler {
namespace {

void check_buffers(const Module& module) {
  for (const Buffer& buffer : module.buffers) {
    if (buffer.bytes > INT32_MAX) {
      throw Error(contract::ErrorCode::kDramFull,
                  "tensor " + buffer.name + " takes " + std::to_string(buffer.bytes) +
                      " bytes, more than a command can stride over; make it smaller than 2 GiB");
    }
    NPU_CHECK(buffer.kind != BufferKind::kConstant || buffer.data.size() == buffer.bytes);
  }
  NPU_CHECK(module.inputs.size() == module.input_buffers.size());
  NPU_CHECK(module.outputs.size() == module.output_buffers.size());
}

// The stream, with the points at which it can be stopped and what is to be done there. Returns the command that follows
// each point.
std::vector<size_t> encode_with_segments(const backend::Schedule& schedule, const backend::Timeline& timeline,
                                         const contract::Capabilities& capabilities, uint32_t segment_cycles,
                                         Program& program) {
  const std::vector<backend::Command>& commands = schedule.stream.commands;
  if (segment_cycles == 0) {
    backend::encode(commands, backend::no_yields(timeline), capabilities, program);
    return {};
  }
  const backend::Liveness liveness(schedule.footprints, backend::jumps_of(commands));
  const backend::Yields yields = backend::choose_yields(commands, timeline, liveness.bytes(), segment_cycles);
  backend::encode(commands, yields, capabilities, program);
  std::vector<size_t> places;
  std::vector<uint32_t> layers;
  for (const backend::YieldPoint& point : yields.points) {
    places.push_back(point.before);
    layers.push_back(backend::header_of(commands[point.before].body).layer);
  }
  backend::add_segment_streams(liveness.spans(places), layers, capabilities, program);
  return places;
}

// Each with the yield before it.
std::vector<uint32_t> words_of(const std::vector<backend::Command>& commands, const std::vector<size_t>& yields) {
  std::vector<uint32_t> words = backend::words_of(commands);
  for (const size_t before : yields) words[before] += contract::YieldCommand::kWords;
  return words;
}

// The layers' parts of the estimate: each is charged with the time by which its commands move the end. They add up.
void spread_estimate(const std::vector<backend::Command>& commands, const backend::Timeline& timeline,
                     Program& program) {
  for (size_t i = 0; i < commands.size(); ++i) {
    const auto end = static_cast<uint64_t>(std::llround(timeline.completed[i]));
    program.layers[backend::header_of(commands[i].body).layer].estimated_cycles += end - program.estimated_cycles;
    program.estimated_cycles = end;
  }
}

// What the commands do with the variables.
void count_state(const backend::Schedule& schedule, Program& program) {
  const std::vector<backend::Command>& commands = schedule.stream.commands;
  for (size_t i = 0; i < commands.size(); ++i) {
    for (const backend::ByteSet& set : schedule.footprints[i]) {
      if (set.space < backend::kVariableSpace) continue;
      Variable& variable = program.variables[set.space - backend::kVariableSpace];
      (set.write ? variable.written_bytes : variable.read_bytes) += static_cast<uint64_t>(set.moved_bytes());
      if (!set.write) continue;
      variable.written = true;
      variable.writer = program.layers[backend::header_of(commands[i].body).layer].name;
    }
  }
}

struct Choice {
  backend::Schedule schedule;
  bool direct = false;
  int64_t scratchpad_bytes = 0;  // that it was made for
};

Choice choose_schedule(const Module& module, const std::optional<Module>& direct,
                       const contract::Capabilities& capabilities, const ScheduleOptions& options) {
  if (!direct) return {backend::best_schedule(module, capabilities, options), false, capabilities.spm_bytes};
  Choice best{backend::best_schedule(*direct, capabilities, options), true, capabilities.spm_bytes};
  backend::Schedule copied = backend::best_schedule(module, capabilities, options);
  if (copied.cost < best.schedule.cost) best = {std::move(copied), false, capabilities.spm_bytes};
  return best;
}

int64_t constant_bytes(const Module& module) {
  int64_t bytes = 0;
  for (const Buffer& buffer : module.buffers) {
    if (buffer.kind == BufferKind::kConstant) bytes += buffer.bytes;
  }
  return bytes;
}

// With all constants in the scratchpad; nullopt where they leave too little of it for the steps. How many bytes they
// are depends on the tiles, and the tiles on the room that they leave.
std::optional<Choice> keep_constants(const Module& module, const std::optional<Module>& direct,
                                     const contract::Capabilities& capabilities, const ScheduleOptions& options) {
  constexpr int kTries = 3;
  const int64_t all = capabilities.spm_bytes;
  int64_t constants = constant_bytes(module);
  for (int i = 0; i < kTries; ++i) {
    constants = backend::round_up(constants, contract::kResidentUnit);
    if (constants == 0 || constants >= all) return std::nullopt;
    contract::Capabilities rest = capabilities;
    rest.spm_bytes = static_cast<uint32_t>(all - constants);
    try {
      Choice choice = choose_schedule(module, direct, rest, options);
      constants = static_cast<int64_t>(choice.schedule.stream.constants.size());
      const int64_t own =
          backend::round_up(std::max<int64_t>(choice.schedule.layout.scratchpad_peak, 1), contract::kResidentUnit);
      if (own + constants <= all) return choice;
    } catch (const NoRoom&) {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace

Program schedule(Module&& module, const contract::Capabilities& capabilities, const ScheduleOptions& options,
                 Explanation* explanation) {
  check_buffers(module);
  backend::split_large_steps(module, capabilities);
  check_buffers(module);
  backend::keep_last_writes(module);
  backend::plan_state(module, capabilities, options);
  // Both modules must outlive their schedules.
  std::optional<Module> direct = backend::write_directly(module, capabilities);
  ScheduleOptions loading = options;
  loading.resident_constants = false;
  Choice choice = choose_schedule(module, direct, capabilities, loading);
  bool kept = false;
  if (options.resident_constants) {
    std::optional<Choice> keeping = keep_constants(module, direct, capabilities, options);
    // What they take of the scratchpad may cost the steps more than loading does.
    kept = keeping && keeping->schedule.cost < choice.schedule.cost;
    if (kept) choice = std::move(*keeping);
  }
  backend::Schedule& best = choice.schedule;
  if (choice.direct) module.layers = std::move(direct->layers);
  const backend::Layout& layout = best.layout;
  backend::Stream& stream = best.stream;

  Program program;
  program.variables = std::move(module.variables);
  const backend::Timeline& timeline = best.timeline;
  const std::vector<size_t> yields =
      encode_with_segments(best, timeline, capabilities, options.segment_cycles, program);
  best.timeline = play::Player(stream.commands, words_of(stream.commands, yields), program.variables, capabilities,
                               options.dram.value_or(play::any_dram(capabilities)))
                      .play();
  if (explanation != nullptr) {
    *explanation = backend::explain(choice.direct ? *direct : module, best, yields, {choice.scratchpad_bytes, kept});
  }
  program.constants = std::move(stream.constants);
  if (kept) backend::add_load_stream(capabilities, program);
  program.workspace_bytes = static_cast<uint32_t>(layout.workspace_bytes);
  program.input_bytes = static_cast<uint32_t>(layout.input_bytes);
  program.output_bytes = static_cast<uint32_t>(layout.output_bytes);
  program.spm_peak_bytes = static_cast<uint32_t>(layout.scratchpad_peak);
  program.inputs = std::move(module.inputs);
  program.outputs = std::move(module.outputs);
  for (size_t i = 0; i < program.inputs.size(); ++i) {
    program.inputs[i].offset = static_cast<uint32_t>(layout.dram[module.input_buffers[i]]);
    program.inputs[i].bytes = static_cast<uint32_t>(module.buffers[module.input_buffers[i]].bytes);
  }
  for (size_t i = 0; i < program.outputs.size(); ++i) {
    program.outputs[i].offset = static_cast<uint32_t>(layout.dram[module.output_buffers[i]]);
    program.outputs[i].bytes = static_cast<uint32_t>(module.buffers[module.output_buffers[i]].bytes);
  }
  program.layers = std::move(module.layers);
  for (size_t i = 0; i < program.layers.size(); ++i) program.layers[i].tiles = stream.layer_tiles[i];
  spread_estimate(stream.commands, timeline, program);
  count_state(best, program);
  return program;
}

}  // namespace npu::compiler
