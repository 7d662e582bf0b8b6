// SPDX-License-Identifier: Apache-2.0
#include "driver/program_file/check_commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "driver/program_file/check.h"
#include "hw/contract/gen/accesses.h"
#include "hw/contract/stream.h"

namespace npu::program_file {
namespace {

// As deep as control flow nests in a valid graph, so that following all loops stays linear in the stream.
constexpr size_t kMostLoopNesting = 256;

// Indices of the variables that a command names: what it declares, then what it accesses.
std::vector<uint32_t> variables_of(const contract::AnyCommand& any) {
  std::vector<uint32_t> variables;
  if (const auto* declare = std::get_if<contract::DeclareCommand>(&any)) variables.push_back(declare->variable);
  const auto note = [&](const contract::MemoryAccess& access) {
    if (access.base.region == contract::Region::kVariable) variables.push_back(access.base.variable);
  };
  std::visit([&](const auto& command) { for_each_access(command, note); }, any);
  return variables;
}

// The commands with another value in each field that has a patch.
std::vector<uint32_t> with_other_values(const compiler::Program& program) {
  std::vector<uint32_t> words = program.commands;
  for (const compiler::Patch& patch : program.patches) {
    if (patch.word >= words.size() || !known(patch.field)) continue;  // refused where programs are loaded
    const uint32_t value = field_of(program.commands[patch.word], patch.field);
    set_field(words[patch.word], patch.field, value == 0 ? 1 : value - 1);
  }
  return words;
}

// A loop of commands, and how deep the loops in it nest.
struct Loop {
  uint32_t first = 0, last = 0;
  size_t depth = 1;
};

class StreamCheck {
 public:
  explicit StreamCheck(const compiler::Program& program) : program_(program), patched_(with_other_values(program)) {}

  void run() {
    if (program_.main_words > program_.commands.size()) throw_damaged_file("is damaged: its last command is missing");
    const auto stream = std::span(program_.commands).first(program_.main_words);
    const bool whole = contract::for_each_command(stream, [&](const contract::Header& header, auto words) {
      if (!contract::well_formed(words) || !contract::reserved_zero(words)) fail("is none");
      check_header(header);
      const contract::AnyCommand command = contract::decode_command(words);
      check_meaning(command);
      check_variables(command, std::span(patched_).subspan(at_, words.size()));
      at_ += words.size();
      ++number_;
      return true;
    });
    if (!whole || number_ == 0) throw_damaged_file("is damaged: its last command is incomplete");
    if (number_ == program_.command_count) return;
    throw_damaged_file(fmt::format("is damaged: it has {} commands, but says {}", number_, program_.command_count));
  }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    throw_damaged_file(fmt::format("is damaged: command {} {}", number_, what));
  }

  void check_header(const contract::Header& header) const {
    if (!known(header.queue)) fail("names a queue that does not exist");
    if (header.layer >= std::max<size_t>(program_.layers.size(), 1)) fail("names a layer that does not exist");
  }

  // The device's table has its variables elsewhere, so that each index is a patch's.
  void check_variables(const contract::AnyCommand& command, std::span<const uint32_t> patched) const {
    const std::vector<uint32_t> named = variables_of(command);
    if (named.empty()) return;
    if (*std::max_element(named.begin(), named.end()) >= program_.variables.size()) {
      fail("names a variable that does not exist");
    }
    const std::vector<uint32_t> others = variables_of(contract::decode_command(patched));
    for (size_t i = 0; i < named.size(); ++i) {
      if (i >= others.size() || named[i] == others[i]) fail("names a variable, but has no patch for it");
    }
  }

  void check_meaning(const contract::AnyCommand& any) {
    labels_.push_back(std::holds_alternative<contract::LabelCommand>(any));
    if (const auto* ewise = std::get_if<contract::VpuEwiseCommand>(&any)) {
      const bool all_known = std::all_of(ewise->uops.begin(), ewise->uops.end(),
                                         [](const contract::Uop& uop) { return contract::known(uop.op); });
      if (!all_known) fail("has a micro-operation that does not exist");
    }
    if (const auto* branch = std::get_if<contract::BranchCommand>(&any)) check_branch(*branch);
  }

  void check_branch(const contract::BranchCommand& branch) {
    if (!known(branch.mode)) fail("branches in a mode that does not exist");
    if (branch.mode != contract::BranchMode::kRepeat) return;
    if (branch.target_index >= number_ || !labels_[branch.target_index])
      fail("goes back to a command that is not a label");
    Loop loop{branch.target_index, number_, 1};
    while (!loops_.empty() && loops_.back().first >= loop.first) {
      loop.depth = std::max(loop.depth, loops_.back().depth + 1);
      loops_.pop_back();
    }
    if (!loops_.empty() && loops_.back().last >= loop.first) fail("goes back into a loop before it");
    if (loop.depth > kMostLoopNesting) fail("closes a loop around too many others");
    loops_.push_back(loop);
  }

  const compiler::Program& program_;
  std::vector<uint32_t> patched_;
  size_t at_ = 0;             // word of the command
  uint32_t number_ = 0;       // of it
  std::vector<bool> labels_;  // by command
  std::vector<Loop> loops_;   // that no other loop holds as yet, in order
};

// Whether the stream is one of commands of which none names a variable.
bool moves_only(std::span<const uint32_t> stream) {
  bool good = true;
  const bool whole = contract::for_each_command(stream, [&](const contract::Header&, auto words) {
    good = contract::well_formed(words) && variables_of(contract::decode_command(words)).empty();
    return good;
  });
  return whole && good;
}

// The streams that save and restore have no patches. Those of several segments may be the same one; that each word is
// looked at once keeps this linear.
void check_segments(const compiler::Program& program) {
  std::set<std::pair<size_t, size_t>> streams;
  for (const compiler::Segment& segment : program.segments) {
    streams.emplace(segment.save_word, segment.save_words);
    streams.emplace(segment.restore_word, segment.restore_words);
  }
  streams.emplace(program.load_word, program.load_words);
  size_t end = program.main_words;
  for (const auto& [word, words] : streams) {
    if (words == 0) continue;
    if (word < end) throw_damaged_file("is damaged: streams of its segments overlap");
    if (words > program.commands.size() || word > program.commands.size() - words) {
      throw_damaged_file("is damaged: a segment points behind the commands");
    }
    end = word + words;
    if (!moves_only(std::span(program.commands).subspan(word, words))) {
      throw_damaged_file("is damaged: a stream that saves or restores does more than move bytes");
    }
  }
}

}  // namespace

void check_stream(const compiler::Program& program) {
  StreamCheck(program).run();
  check_segments(program);
}

}  // namespace npu::program_file
