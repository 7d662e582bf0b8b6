// SPDX-License-Identifier: Apache-2.0
#include "driver/program_file/check_commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "driver/program_file/check.h"
#include "hw/contract/gen/accesses.h"
#include "hw/contract/stream.h"

namespace npu::program_file {
namespace {

// As deep as control flow nests in a valid graph, so that following all loops stays linear in the stream.
constexpr size_t kMostLoopNesting = 256;

// A loop of commands, and how deep the loops in it nest.
struct Loop {
  uint32_t first = 0, last = 0;
  size_t depth = 1;
};

class StreamCheck {
 public:
  explicit StreamCheck(const compiler::Program& program) : program_(program) {}

  void run() {
    if (program_.main_words > program_.commands.size()) throw_damaged_file("is damaged: its last command is missing");
    const auto stream = std::span(program_.commands).first(program_.main_words);
    const bool whole = contract::for_each_command(stream, [&](const contract::Header& header, auto words) {
      if (!contract::well_formed(words) || !contract::reserved_zero(words)) fail("is none");
      check_header(header);
      check_meaning(contract::decode_command(words));
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

  void check_variable(uint32_t index) const {
    if (index >= program_.variables.size()) fail("names a variable that does not exist");
  }

  void check_meaning(const contract::AnyCommand& any) {
    labels_.push_back(std::holds_alternative<contract::LabelCommand>(any));
    if (const auto* ewise = std::get_if<contract::VpuEwiseCommand>(&any)) {
      const bool all_known = std::all_of(ewise->uops.begin(), ewise->uops.end(),
                                         [](const contract::Uop& uop) { return contract::known(uop.op); });
      if (!all_known) fail("has a micro-operation that does not exist");
    }
    if (const auto* declare = std::get_if<contract::DeclareCommand>(&any)) check_variable(declare->variable);
    if (const auto* branch = std::get_if<contract::BranchCommand>(&any)) check_branch(*branch);
    const auto check_access = [&](const contract::MemoryAccess& access) {
      if (access.base.region == contract::Region::kVariable) check_variable(access.base.variable);
    };
    std::visit([&](const auto& command) { for_each_access(command, check_access); }, any);
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
  uint32_t number_ = 0;       // of the command
  std::vector<bool> labels_;  // by command
  std::vector<Loop> loops_;   // that no other loop holds as yet, in order
};

}  // namespace

void check_stream(const compiler::Program& program) { StreamCheck(program).run(); }

}  // namespace npu::program_file
