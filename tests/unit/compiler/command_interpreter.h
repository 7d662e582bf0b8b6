// SPDX-License-Identifier: Apache-2.0
// A device without time: runs a Program's commands one after the other on plain arrays, and checks what they address.
// Variables can have two places: reads go to the one that the last complete write made current, writes to the other.
// It can stop a job at a yield command the way firmware does.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "driver/compiler/program.h"
#include "hw/contract/gen/capabilities.h"
#include "hw/contract/gen/commands.h"

namespace npu::compiler::testing {

class CommandInterpreter {
 public:
  // Scratchpad, workspace and outputs start poisoned.
  CommandInterpreter(const Program& program, const contract::Capabilities& capabilities, bool two_places = false);

  void set_input(size_t port, std::span<const uint8_t> bytes);
  [[nodiscard]] std::vector<uint8_t> output(size_t port) const;
  [[nodiscard]] std::vector<uint8_t>& variable(size_t index) {
    return variables_[index].places[two_places_ ? variables_[index].completed % 2 : 0];
  }

  // Commands of the main stream, without begin and end.
  [[nodiscard]] size_t size() const { return commands_.size(); }
  [[nodiscard]] std::span<const uint32_t> words(size_t i) const { return commands_[i]; }
  void execute(size_t i);
  void run();  // all, in stream order
  // The same; calls at_yield(segment) at every yield command.
  void run(const std::function<void(size_t)>& at_yield);

  // Saves what segment `segment` saves, fills the scratchpad with noise, and restores.
  void preempt(size_t segment, uint32_t seed);
  [[nodiscard]] std::span<uint8_t> scratchpad() { return scratchpad_; }

  // What was wrong with the stream, in words; empty: nothing.
  std::vector<std::string> complaints;

 private:
  struct State {
    std::array<std::vector<uint8_t>, 2> places;
    uint32_t completed = 0;  // writes
  };

  [[nodiscard]] std::vector<std::span<const uint32_t>> split(std::span<const uint32_t> stream);
  void execute(std::span<const uint32_t> words);
  void check_branch(const contract::BranchCommand& branch);
  void check_side_by_side(const contract::MxuCommand& command);
  [[nodiscard]] bool is_taken(const contract::BranchCommand& branch);
  void move_rows(const contract::DmaCommand& command);
  void check_yield(const contract::YieldCommand& yield);
  // A stream from begin to end behind the main stream; `save`: which way it must move.
  void run_side_stream(uint32_t word, uint32_t words, contract::Region from, contract::Region to);
  uint8_t* resolve(const contract::Address& address, int64_t low, int64_t high, bool write, bool dma);
  std::vector<uint8_t>& place_of(uint32_t variable, bool write);
  void complain(const std::string& what);
  // Variables whose write the command completes.
  [[nodiscard]] static std::vector<uint32_t> completes(std::span<const uint32_t> words);

  const Program& program_;
  const contract::Capabilities& capabilities_;
  std::vector<std::span<const uint32_t>> commands_;
  std::vector<uint8_t> scratchpad_, constants_, workspace_, input_, output_, save_, resident_;
  bool loading_ = false;  // the stream that may write region `resident` runs
  const bool two_places_;
  std::vector<State> variables_;
  std::vector<std::vector<uint32_t>> complete_before_;  // writes of each variable, by command, in stream order
  bool branches_ = false;
  std::vector<uint8_t> nowhere_;
  size_t current_ = 0;
};

}  // namespace npu::compiler::testing
