// SPDX-License-Identifier: Apache-2.0
// What the variables of a program went through: bytes, commands and cycles of each, and which layer used it when.
// Derived from events and the command list alone, as everything in a report.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "driver/compiler/program.h"
#include "driver/runtime/runtime.h"
#include "hw/contract/gen/commands.h"
#include "sim/report/command_list.h"

namespace npu::report {

// Bytes that moved, by what moving one costs: a class of energy each.
struct StateBytes {
  uint64_t sram_read = 0, sram_written = 0;  // persistent SRAM, on chip
  uint64_t dram_read = 0, dram_written = 0;

  StateBytes& operator+=(const StateBytes& more);
};

struct VariableUser {
  uint32_t layer = 0;
  VariableUse use = VariableUse::kRead;
  uint64_t commands = 0;
};

// Sums over all invocations.
struct VariableTraffic {
  StateBytes bytes;
  uint64_t cycles = 0;              // of commands that read or write it, also where they are hidden behind other work
  std::vector<VariableUser> users;  // readers and writers, in the order of their first use
};

// The commands of a layer that use a variable in one way, in one invocation.
struct StateUse {
  uint32_t variable = 0, layer = 0;
  VariableUse use = VariableUse::kRead;
  uint64_t start = 0, end = 0;  // cycles of the job: start of the first command, end of the last
  uint64_t commands = 0;

  friend bool operator==(const StateUse&, const StateUse&) = default;
};

// Invocations, one after the other, in which the same happened in the same cycles.
struct TimelineRange {
  uint64_t first = 0, last = 0;
  std::vector<StateUse> uses;  // by start

  [[nodiscard]] uint64_t count() const { return last - first + 1; }
};

// Which variables were read and written in an invocation, declarations left out.
[[nodiscard]] std::vector<StateUse> state_uses(std::span<const contract::Event> events,
                                               std::span<const CommandInfo> commands);

class StateCollector {
 public:
  // Ranges beyond this are left out, so that a long run whose cycles never repeat does not fill the memory.
  static constexpr size_t kMaxRanges = 256;

  // The variables' bytes say how commands that read or write several of them are shared out.
  explicit StateCollector(const compiler::Program& program);

  // The next invocation.
  void add(std::span<const contract::Event> events, std::span<const CommandInfo> commands);

  [[nodiscard]] const std::vector<VariableTraffic>& traffic() const { return traffic_; }  // by Program::variables
  // Of all variables together; a command that uses several counts once.
  [[nodiscard]] uint64_t cycles() const { return cycles_; }
  [[nodiscard]] const std::vector<TimelineRange>& timeline() const { return timeline_; }
  [[nodiscard]] uint64_t left_out() const { return left_out_; }  // invocations

 private:
  void count(const contract::Event& event, const std::vector<VariableAccess>& accesses);
  void note_user(const VariableAccess& access, uint32_t layer);

  std::vector<uint64_t> sizes_;
  std::vector<VariableTraffic> traffic_;
  std::vector<TimelineRange> timeline_;
  uint64_t cycles_ = 0, invocations_ = 0, left_out_ = 0;
};

// TOSA 1.0 knows INT8, FP16 and FP32 under EXT-VARIABLE; other types are an extension of this project.
[[nodiscard]] bool is_extension_type(graph::DType type);

}  // namespace npu::report
