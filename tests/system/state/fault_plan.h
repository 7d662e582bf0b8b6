// SPDX-License-Identifier: Apache-2.0
// Faults at random: which of a device's test hooks strike during a run of jobs, where, and when.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "driver/runtime/runtime.h"
#include "tests/system/state/striking_hal.h"

namespace npu::test {

// Of jobs that may hang: several times what those of these tests take; and the device time within which such jobs end
// whatever happens, by docs/architecture/firmware.md (Faults).
inline constexpr uint64_t kCycleLimit = 200'000, kMostTime = 6 * kCycleLimit + 10'000'000;

// A word of the persistent SRAM of which stored bits are flipped.
struct FlippedWord {
  uint32_t offset = 0;  // in bytes
  std::vector<uint32_t> bits;
  bool owned = false;  // by a variable, or a table entry that is taken
};

struct FaultPlan {
  uint32_t lost_interrupts = 0;
  std::vector<FlippedWord> flips;  // of different words
  std::vector<Strike> strikes;     // all of them, as writes of registers

  [[nodiscard]] bool two_wrong_bits() const;
  [[nodiscard]] std::string text() const;
};

// Where faults can strike.
struct FaultRange {
  std::vector<uint32_t> owned_words;  // offsets, of variables and their table entries
  uint32_t table_bytes = 0, psram_bytes = 0, dma_channels = 0;
  // Of the longest job: commands, bursts to and from DRAM, bytes written to variables, moments of a StrikingHal.
  uint32_t commands = 0, bursts = 0, written_bytes = 0, moments = 0;
};

// About one plan in five has none.
[[nodiscard]] FaultPlan random_plan(const FaultRange& range, std::mt19937& random);

// Which of the hooks of a plan that strike once have done so, when `left` of its strikes never came. Disarms all.
struct Struck {
  bool hang = false, brown_out = false, bus_error = false;
};
[[nodiscard]] Struck disarm(runtime::Device& device, const FaultPlan& plan, const std::vector<Strike>& left);

}  // namespace npu::test
