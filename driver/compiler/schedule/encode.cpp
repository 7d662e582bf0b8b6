// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/schedule/encode.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <span>
#include <utility>

#include "driver/compiler/patches.h"

namespace npu::compiler::backend {
namespace {

// 7 MiB of records: nearly twice the commands of the longest program of the baselines.
constexpr uint32_t kMostEvents = 1 << 17;
// How often a loop runs is known on the device alone; a MiB of records tells most loops whole.
constexpr uint32_t kLoopEvents = 1 << 14;

template <typename C>
void append_command(const C& command, Program& program) {
  add_patches(command, program.commands.size(), program.patches);
  command.encode(program.commands);
}

uint32_t whole_cycles(double cycles) {
  return static_cast<uint32_t>(std::clamp(std::ceil(cycles), 0.0, static_cast<double>(UINT32_MAX)));
}

// Where labels lie, and what is to be filled in when that is known.
class Labels {
 public:
  void note(const Command& command, uint32_t index, size_t word) {
    if (const auto* label = std::get_if<contract::LabelCommand>(&command.body)) places_[label->index] = {index, word};
    if (is_control(command.body)) controls_.push_back(word);
  }

  // Puts places where the commands have numbers of labels.
  void resolve(std::vector<uint32_t>& words) const {
    for (const size_t word : controls_) {
      const std::span<uint32_t> all = std::span(words).subspan(word);
      if (contract::Header::decode(all).opcode == contract::Opcode::kLabel) {
        auto label = contract::LabelCommand::decode(all.first(contract::LabelCommand::kWords));
        label.index = places_.at(label.index).first;
        replace(label, all);
      } else {
        auto branch = contract::BranchCommand::decode(all.first(contract::BranchCommand::kWords));
        const auto& [index, target] = places_.at(branch.target);
        branch.target = static_cast<uint32_t>(target);
        branch.target_index = index;
        replace(branch, all);
      }
    }
  }

 private:
  template <typename C>
  static void replace(const C& command, std::span<uint32_t> words) {
    std::vector<uint32_t> anew;
    command.encode(anew);
    std::copy(anew.begin(), anew.end(), words.begin());
  }

  std::map<uint32_t, std::pair<uint32_t, size_t>> places_;  // index in the stream, word
  std::vector<size_t> controls_;                            // first words of labels and branches
};

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

bool has_loop(const std::vector<Command>& commands) {
  return std::any_of(commands.begin(), commands.end(), [](const Command& command) {
    const auto* branch = std::get_if<contract::BranchCommand>(&command.body);
    return branch != nullptr && branch->mode == contract::BranchMode::kRepeat;
  });
}

}  // namespace

std::vector<uint32_t> words_of(const std::vector<Command>& commands) {
  std::vector<uint32_t> words, encoded;
  words.reserve(commands.size());
  for (const Command& command : commands) {
    encoded.clear();
    std::visit([&](const auto& body) { body.encode(encoded); }, command.body);
    words.push_back(static_cast<uint32_t>(encoded.size()));
  }
  return words;
}

void encode(const std::vector<Command>& commands, const Yields& yields, const contract::Capabilities& capabilities,
            Program& program) {
  program.caps_hash = contract::caps_hash(capabilities);
  program.command_count = static_cast<uint32_t>(commands.size() + yields.points.size()) + 2;
  const uint32_t events = has_loop(commands) ? std::max(program.command_count, kLoopEvents) : program.command_count;
  program.event_capacity = std::min(events, kMostEvents);
  program.tail_cycles = whole_cycles(yields.tail);
  contract::BeginCommand begin;
  begin.header.queue = contract::Queue::kSequencer;
  begin.major = contract::kContractMajor;
  begin.minor = contract::kContractMinor;
  begin.caps_hash = program.caps_hash;
  begin.command_count = program.command_count;
  append_command(begin, program);
  auto yield = yields.points.begin();
  Labels labels;
  for (size_t i = 0; i < commands.size(); ++i) {
    const Command& command = commands[i];
    if (yield != yields.points.end() && yield->before == i) {
      encode_yield(*yield++, header_of(command.body).layer, program);
    }
    labels.note(command, static_cast<uint32_t>(i + 1 + program.segments.size()), program.commands.size());
    std::visit([&](const auto& body) { append_command(body, program); }, command.body);
  }
  contract::EndCommand end;
  end.header.queue = contract::Queue::kSequencer;
  append_command(end, program);
  labels.resolve(program.commands);
  program.main_words = static_cast<uint32_t>(program.commands.size());
}

}  // namespace npu::compiler::backend
