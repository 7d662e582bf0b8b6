// SPDX-License-Identifier: Apache-2.0
#include "sim/cosim/scratchpad_demand.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

namespace npu::cosim {

namespace {

enum class Pattern : uint8_t { kRandom, kStreams, kOneBank };
constexpr std::string_view kPatternNames[] = {"random", "streams", "one bank"};

// The words of one requester, one after the other.
class Words {
 public:
  Words(Pattern pattern, uint32_t first, uint32_t words, uint32_t banks, std::mt19937_64& random)
      : pattern_(pattern),
        first_(first),
        words_(words),
        banks_(banks),
        at_(static_cast<uint32_t>(random())),
        step_(1 + static_cast<uint32_t>(random() % 4)) {}

  uint32_t next(uint32_t shared_bank, std::mt19937_64& random) {
    at_ += step_;
    const auto any = static_cast<uint32_t>(random() % words_);
    if (pattern_ == Pattern::kStreams) return first_ + at_ % words_;
    if (pattern_ == Pattern::kOneBank) return first_ + any / banks_ * banks_ + shared_bank;
    return first_ + any;
  }

 private:
  Pattern pattern_;
  uint32_t first_, words_, banks_;
  uint32_t at_, step_;
};

ScratchpadAccess random_access(const rtl::Scratchpad::Sizes& sizes, uint32_t word, std::mt19937_64& random) {
  ScratchpadAccess access;
  access.word = word;
  access.write = random() % 2 == 0;
  if (!access.write) return access;
  access.strobe = static_cast<uint32_t>(random() & (random() % 2 == 0 ? ~uint64_t{0} : random()));
  if (random() % 2 == 0) access.strobe = ~0u;
  access.data.resize(sizes.bank_bytes);
  for (uint8_t& byte : access.data) byte = static_cast<uint8_t>(random());
  return access;
}

// The bank of a word becomes one of those that only this requester uses.
uint32_t in_own_bank(uint32_t word, uint32_t requester, const rtl::Scratchpad::Sizes& sizes) {
  const uint32_t own = (sizes.banks - requester + sizes.requesters - 1) / sizes.requesters;
  const uint32_t bank = requester + word % sizes.banks % own * sizes.requesters;
  return word / sizes.banks * sizes.banks + bank;
}

}  // namespace

uint64_t ScratchpadDemand::accesses() const {
  uint64_t sum = 0;
  for (const auto& stream : streams) sum += stream.size();
  return sum;
}

uint64_t ScratchpadDemand::end() const {
  uint64_t end = 0;
  for (const auto& stream : streams) {
    uint64_t cycles = 0;
    for (const ScratchpadAccess& access : stream) cycles += access.pause + 1;
    end = std::max(end, cycles);
  }
  return end;
}

ScratchpadDemand random_demand(const rtl::Scratchpad::Sizes& sizes, std::mt19937_64& random, bool shared) {
  const auto pattern = static_cast<Pattern>(random() % std::size(kPatternNames));
  const uint32_t all_rows = sizes.bytes / sizes.bank_bytes / sizes.banks;
  const uint32_t rows = 1 + static_cast<uint32_t>(random() % std::min(all_rows, 8u));
  const auto shared_bank = static_cast<uint32_t>(random() % sizes.banks);
  ScratchpadDemand demand;
  demand.kind = shared ? kPatternNames[static_cast<size_t>(pattern)] : "banks of their own";
  demand.first_word = static_cast<uint32_t>(random() % (all_rows - rows + 1)) * sizes.banks;
  demand.words = rows * sizes.banks;
  demand.streams.resize(sizes.requesters);
  const uint32_t asking = shared ? sizes.requesters : std::min(sizes.requesters, sizes.banks);
  for (uint32_t r = 0; r < asking; ++r) {
    Words words(pattern, demand.first_word, demand.words, sizes.banks, random);
    const uint64_t count = 1 + random() % 400;
    const uint64_t percent = shared ? 20 + random() % 81 : 100;
    auto pause = static_cast<uint32_t>(random() % 100);
    for (uint64_t i = 0; i < count; ++i) {
      for (; random() % 100 >= percent; ++pause) {
      }
      const uint32_t word = words.next(shared_bank, random);
      demand.streams[r].push_back(random_access(sizes, shared ? word : in_own_bank(word, r, sizes), random));
      demand.streams[r].back().pause = std::exchange(pause, 0);
    }
  }
  return demand;
}

}  // namespace npu::cosim
