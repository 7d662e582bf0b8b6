// SPDX-License-Identifier: Apache-2.0
#include "sim/report/bound.h"

#include <algorithm>
#include <bit>

#include "hw/contract/gen/accesses.h"
#include "hw/contract/overloaded.h"
#include "hw/contract/stream.h"

namespace npu::report {
namespace {

using contract::Access;
using contract::MemoryAccess;
using contract::Region;

// Reads of constants and inputs, and writes of outputs. Of rows that indices choose all may be the same one.
bool has_to_move(const MemoryAccess& access) {
  if (access.moves != MemoryAccess::kAll) return false;
  switch (access.base.region) {
    case Region::kConstants:
    case Region::kInput:
      return access.access == Access::kRead;
    case Region::kOutput:
      return access.access == Access::kWrite;
    case Region::kScratchpad:
    case Region::kWorkspace:
    case Region::kSave:
    case Region::kResident:
    case Region::kVariable:
      return false;
  }
  return false;
}

// Which bytes of a region were met: a bit each, as far as any were.
class Met {
 public:
  explicit Met(uint64_t bytes) : size_(static_cast<int64_t>(bytes)) {}

  void add(const MemoryAccess& access) {
    add_dimensions(access, MemoryAccess::kMaxRank - access.rank,
                   static_cast<int64_t>(access.base.offset) + access.first);
  }
  [[nodiscard]] uint64_t count() const {
    uint64_t sum = 0;
    for (const uint64_t word : words_) sum += static_cast<uint64_t>(std::popcount(word));
    return sum;
  }

 private:
  static constexpr uint64_t kBits = 64;

  void add_dimensions(const MemoryAccess& access, uint32_t dim, int64_t at) {
    if (dim == MemoryAccess::kMaxRank) return add_run(at, access.run);
    // A row repeated is the same bytes again.
    const MemoryAccess::Dim& one = access.dims[dim];
    const uint64_t count = one.stride == 0 ? std::min<uint64_t>(one.count, 1) : one.count;
    for (uint64_t i = 0; i < count; ++i) {
      add_dimensions(access, dim + 1, at + static_cast<int64_t>(i) * one.stride);
    }
  }

  void add_run(int64_t at, uint64_t run) {
    const auto begin = static_cast<uint64_t>(std::clamp<int64_t>(at, 0, size_));
    const auto end =
        static_cast<uint64_t>(std::clamp<int64_t>(at + static_cast<int64_t>(run), static_cast<int64_t>(begin), size_));
    if (begin == end) return;
    const uint64_t first = begin / kBits, last = (end - 1) / kBits;
    if (words_.size() <= last) words_.resize(last + 1);
    const uint64_t from = ~uint64_t{0} << begin % kBits, to = ~uint64_t{0} >> (kBits - 1 - (end - 1) % kBits);
    if (first == last) {
      words_[first] |= from & to;
      return;
    }
    words_[first] |= from;
    std::fill(words_.begin() + static_cast<int64_t>(first) + 1, words_.begin() + static_cast<int64_t>(last),
              ~uint64_t{0});
    words_[last] |= to;
  }

  int64_t size_;
  std::vector<uint64_t> words_;
};

}  // namespace

Bound& Bound::operator+=(const Bound& more) {
  cycles += more.cycles;
  array += more.array;
  dram += more.dram;
  dram_bytes += more.dram_bytes;
  return *this;
}

BoundFinder::BoundFinder(const compiler::Program& program, const presets::Preset& machine)
    : caps_(machine.caps),
      dram_(machine),
      constants_bytes_(program.constants.size()),
      input_bytes_(program.input_bytes),
      output_bytes_(program.output_bytes) {
  std::vector<std::pair<size_t, size_t>> passed_over;  // between a branch and its target
  const auto add = [&](const contract::Header& header, std::span<const uint32_t> words) {
    Command command;
    if (header.skip) {
      commands_.push_back(command);
      return true;
    }
    const contract::AnyCommand any = contract::decode_command(words);
    std::visit(
        [&](const auto& one) {
          for_each_access(one, [&](const MemoryAccess& access) {
            if (has_to_move(access)) command.transfers.push_back(access);
          });
        },
        any);
    if (const auto* mxu = std::get_if<contract::MxuCommand>(&any)) command.array = array_work(*mxu, caps_);
    if (const auto* branch = std::get_if<contract::BranchCommand>(&any)) {
      branches_ = true;
      passed_over.emplace_back(commands_.size() + 1, branch->target_index);  // nothing where the target lies before
    }
    commands_.push_back(std::move(command));
    return true;
  };
  NPU_CHECK(contract::for_each_command(std::span(program.commands).first(program.main_words), add));
  for (const auto& [begin, end] : passed_over) {
    for (size_t i = begin; i < std::min(end, commands_.size()); ++i) commands_[i].always = false;
  }
  std::vector<uint32_t> times;
  times.reserve(commands_.size());
  for (const Command& command : commands_) times.push_back(command.always ? 1 : 0);
  any_job_ = sum(times);
}

Bound BoundFinder::of_job(std::span<const contract::Event> records) const {
  if (!branches_) return any_job_;
  std::vector<uint32_t> times(commands_.size());
  for (const contract::Event& event : records) {
    if (event.command < times.size()) ++times[event.command];
  }
  return sum(times);
}

Bound BoundFinder::sum(std::span<const uint32_t> times) const {
  ArrayWork array;
  Met constants(constants_bytes_), input(input_bytes_), output(output_bytes_);
  for (size_t i = 0; i < commands_.size(); ++i) {
    if (times[i] == 0) continue;
    array += commands_[i].array * times[i];
    for (const MemoryAccess& access : commands_[i].transfers) {
      (access.base.region == Region::kConstants ? constants
       : access.base.region == Region::kInput   ? input
                                                : output)
          .add(access);
    }
  }
  Bound bound;
  bound.array = array.cycles(caps_);
  bound.dram_bytes = constants.count() + input.count() + output.count();
  bound.dram = dram_.cycles(bound.dram_bytes);
  bound.cycles = std::max(bound.array, bound.dram);
  return bound;
}

}  // namespace npu::report
