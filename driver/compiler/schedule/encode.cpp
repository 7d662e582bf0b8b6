// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/schedule/encode.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "driver/compiler/patches.h"

namespace npu::compiler::backend {
namespace {

// 7 MiB of records: nearly twice the commands of the longest program of the baselines.
constexpr uint32_t kMostEvents = 1 << 17;

template <typename C>
void append_command(const C& command, Program& program) {
  add_patches(command, program.commands.size(), program.patches);
  command.encode(program.commands);
}

uint32_t whole_cycles(double cycles) {
  return static_cast<uint32_t>(std::clamp(std::ceil(cycles), 0.0, static_cast<double>(UINT32_MAX)));
}

void encode_yield(const YieldPoint& point, uint32_t layer, Program& program) {
  contract::YieldCommand yield;
  yield.header.queue = contract::Queue::kSequencer;
  yield.header.layer = layer;
  yield.major = contract::kContractMajor;
  yield.minor = contract::kContractMinor;
  yield.caps_hash = program.caps_hash;
  yield.command_count = program.command_count;
  yield.segment = static_cast<uint32_t>(program.segments.size());
  yield.index = static_cast<uint32_t>(point.before) + 1 + yield.segment;  // behind begin and the yields before
  Segment segment;
  segment.yield_word = static_cast<uint32_t>(program.commands.size());
  segment.cycles = whole_cycles(point.cycles);
  program.segments.push_back(segment);
  append_command(yield, program);
}

}  // namespace

void encode(const std::vector<Command>& commands, const Yields& yields, const contract::Capabilities& capabilities,
            Program& program) {
  program.caps_hash = contract::caps_hash(capabilities);
  program.command_count = static_cast<uint32_t>(commands.size() + yields.points.size()) + 2;
  program.event_capacity = std::min(program.command_count, kMostEvents);
  program.tail_cycles = whole_cycles(yields.tail);
  contract::BeginCommand begin;
  begin.header.queue = contract::Queue::kSequencer;
  begin.major = contract::kContractMajor;
  begin.minor = contract::kContractMinor;
  begin.caps_hash = program.caps_hash;
  begin.command_count = program.command_count;
  append_command(begin, program);
  auto yield = yields.points.begin();
  for (size_t i = 0; i < commands.size(); ++i) {
    const Command& command = commands[i];
    if (yield != yields.points.end() && yield->before == i) {
      encode_yield(*yield++, header_of(command.body).layer, program);
    }
    std::visit([&](const auto& body) { append_command(body, program); }, command.body);
  }
  contract::EndCommand end;
  end.header.queue = contract::Queue::kSequencer;
  append_command(end, program);
  program.main_words = static_cast<uint32_t>(program.commands.size());
}

}  // namespace npu::compiler::backend
