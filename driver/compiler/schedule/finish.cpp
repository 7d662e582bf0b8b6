// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/schedule/finish.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "driver/compiler/play/player.h"
#include "driver/compiler/schedule/dram.h"
#include "driver/compiler/schedule/encode.h"
#include "driver/compiler/schedule/explain.h"
#include "driver/compiler/schedule/liveness.h"
#include "driver/compiler/schedule/segments.h"
#include "driver/compiler/schedule/yields.h"
#include "hw/contract/error.h"

namespace npu::compiler::backend {
namespace {

// The bytes that are live before each of these commands, for the largest sizes or any other.
std::vector<std::vector<ByteSpan>> live_before(const std::vector<size_t>& places, const Liveness& largest,
                                               const std::vector<Jump>& jumps, const OtherSizes& others) {
  std::vector<std::vector<ByteSpan>> spans = largest.spans(places);
  if (others.words.empty()) return spans;
  std::vector<IntervalSet> live(places.size());
  const auto add = [&](const std::vector<std::vector<ByteSpan>>& more) {
    for (size_t i = 0; i < more.size(); ++i) {
      for (const ByteSpan& span : more[i]) live[i].add(span.low, span.high);
    }
  };
  add(spans);
  for (const SizedWords& words : others.words) {
    const std::vector<std::vector<ByteSet>> emitted = footprints_of(words);
    std::vector<std::vector<ByteSet>> footprints;
    footprints.reserve(emitted.size());
    for (const size_t position : others.order) footprints.push_back(emitted[position]);
    add(Liveness(footprints, jumps).spans(places));
  }
  for (size_t i = 0; i < live.size(); ++i) spans[i] = live[i].spans();
  return spans;
}

// The stream, with the points at which it can be stopped and what is to be done there. Returns the command that follows
// each point.
std::vector<size_t> encode_with_segments(const Schedule& schedule, const Timeline& timeline,
                                         const contract::Capabilities& capabilities, uint32_t segment_cycles,
                                         const OtherSizes& others, Program& program) {
  const std::vector<Command>& commands = schedule.stream.commands;
  if (segment_cycles == 0) {
    encode(commands, no_yields(timeline), capabilities, program);
    return {};
  }
  const std::vector<Jump> jumps = jumps_of(commands);
  const Liveness liveness(schedule.footprints, jumps);
  const Yields yields = choose_yields(commands, timeline, liveness.bytes(), segment_cycles);
  encode(commands, yields, capabilities, program);
  std::vector<size_t> places;
  std::vector<uint32_t> layers;
  for (const YieldPoint& point : yields.points) {
    places.push_back(point.before);
    layers.push_back(header_of(commands[point.before].body).layer);
  }
  add_segment_streams(live_before(places, liveness, jumps, others), layers, capabilities, program);
  return places;
}

// Each with the yield before it.
std::vector<uint32_t> words_with_yields(const std::vector<Command>& commands, const std::vector<size_t>& yields) {
  std::vector<uint32_t> words = words_of(commands);
  for (const size_t before : yields) words[before] += contract::YieldCommand::kWords;
  return words;
}

// What the commands do with the variables.
void count_state(const Schedule& schedule, Program& program) {
  const std::vector<Command>& commands = schedule.stream.commands;
  for (size_t i = 0; i < commands.size(); ++i) {
    for (const ByteSet& set : schedule.footprints[i]) {
      if (set.space < kVariableSpace) continue;
      Variable& variable = program.variables[set.space - kVariableSpace];
      (set.write ? variable.written_bytes : variable.read_bytes) += static_cast<uint64_t>(set.moved_bytes());
      if (!set.write) continue;
      variable.written = true;
      variable.writer = program.layers[header_of(commands[i].body).layer].name;
    }
  }
}

}  // namespace

void spread_estimate(const std::vector<Command>& commands, const Timeline& timeline, Program& program) {
  for (size_t i = 0; i < commands.size(); ++i) {
    const auto end = static_cast<uint64_t>(std::llround(timeline.completed[i]));
    program.layers[header_of(commands[i].body).layer].estimated_cycles += end - program.estimated_cycles;
    program.estimated_cycles = end;
  }
}

Program finish(Prepared&& prepared, Choice&& choice, const OtherSizes& others,
               const contract::Capabilities& capabilities, const ScheduleOptions& options, Explanation* explanation) {
  Module& module = prepared.module;
  Schedule& best = choice.schedule;
  if (choice.direct) module.layers = prepared.direct->layers;
  const Layout& layout = best.layout;
  Stream& stream = best.stream;

  Program program;
  program.variables = std::move(module.variables);
  const Timeline& timeline = best.timeline;
  const std::vector<size_t> yields =
      encode_with_segments(best, timeline, capabilities, options.segment_cycles, others, program);
  best.timeline = play::Player(stream.commands, words_with_yields(stream.commands, yields), program.variables,
                               capabilities, options.dram.value_or(play::any_dram(capabilities)))
                      .play();
  if (explanation != nullptr) {
    *explanation = explain(choice.module(prepared), best, yields, {int64_t{choice.machine->spm_bytes}, choice.kept});
  }
  program.constants = std::move(stream.constants);
  if (choice.kept) add_load_stream(capabilities, program);
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

}  // namespace npu::compiler::backend
