// SPDX-License-Identifier: Apache-2.0
#include "hw/model/on_chip_path.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace npu::model {

using contract::Space;

void OnChipPath::start(Space space, const engine::ExtentWalk& walk) {
  space_ = space;
  walk_ = walk;
  free_at_ = busy_ = bank_conflicts_ = bytes_ = 0;
}

void OnChipPath::start_fill(uint64_t pattern, uint32_t pattern_bytes) {
  space_ = Space::kNone;
  for (uint32_t i = 0; i < pattern_.size(); ++i) pattern_[i] = static_cast<uint8_t>(pattern >> (8 * i));
  pattern_bytes_ = pattern_bytes;
  pattern_phase_ = 0;
  free_at_ = busy_ = bank_conflicts_ = bytes_ = 0;
}

// Cuts `bytes` of the walk into contiguous pieces, calls move(memory, offset, length) for each, and books the time.
template <class Move>
uint64_t OnChipPath::move(uint64_t bytes, uint64_t earliest, Move&& move) {
  const bool timed = machine_.clock.timed();
  const uint32_t port_bytes = machine_.config.caps.dma_port_bytes;
  const bool scratchpad = space_ == Space::kScratchpad;
  uint8_t* const memory = scratchpad ? machine_.scratchpad.bytes().data() : machine_.persistent.bytes().data();
  std::array<uint32_t, kMostBanks> accesses;
  const std::span<uint32_t> banks(accesses.data(), machine_.scratchpad.banks());
  std::fill(banks.begin(), banks.end(), 0);
  const auto width = static_cast<uint32_t>(std::countr_zero(machine_.persistent.port_bytes()));
  const auto port_shift = static_cast<uint32_t>(std::countr_zero(port_bytes));
  uint64_t cycles = 0;
  for (uint64_t offset = 0; offset < bytes;) {
    const uint64_t length = std::min(bytes - offset, walk_.contiguous());
    const uint64_t address = walk_.address();
    move(memory + address, offset, length);
    walk_.advance(length);
    offset += length;
    if (!timed) continue;
    cycles += (length + port_bytes - 1) >> port_shift;
    if (scratchpad) {
      machine_.scratchpad.count(address, length, 1, banks);
    } else {
      accesses[0] += static_cast<uint32_t>(((address + length - 1) >> width) - (address >> width) + 1);
    }
  }
  bytes_ += bytes;
  if (!timed) return 0;
  const uint64_t start = std::max(earliest, free_at_);
  free_at_ = scratchpad ? machine_.scratchpad.book(start, cycles, banks)
                        : machine_.persistent.book(start, cycles, accesses[0]);
  busy_ += cycles;
  if (scratchpad) bank_conflicts_ += free_at_ - start - cycles;
  return free_at_;
}

uint64_t OnChipPath::read(std::span<uint8_t> data, uint64_t earliest) {
  if (fills()) {
    for (uint8_t& byte : data) {
      byte = pattern_[pattern_phase_];
      pattern_phase_ = (pattern_phase_ + 1) % pattern_bytes_;
    }
    return earliest;
  }
  return move(data.size(), earliest, [&](const uint8_t* memory, uint64_t offset, uint64_t length) {
    std::memcpy(data.data() + offset, memory, length);
  });
}

uint64_t OnChipPath::write(std::span<const uint8_t> data, uint64_t earliest) {
  return move(data.size(), earliest, [&](uint8_t* memory, uint64_t offset, uint64_t length) {
    if (space_ == Space::kScratchpad) {
      const auto address = static_cast<uint64_t>(memory - machine_.scratchpad.bytes().data());
      machine_.scratchpad.touch(address, address + length);
    }
    std::memcpy(memory, data.data() + offset, length);
  });
}

}  // namespace npu::model
