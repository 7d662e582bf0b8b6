// SPDX-License-Identifier: Apache-2.0
// What the control CPU's bus interface keeps of DRAM, so that the CPU does not wait for every word: the line that it
// read last, and the stores that memory has not finished.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <systemc>

namespace npu::model {

// The line of the last load that went to memory. It does not follow what others write: its owner drops it
// before the CPU may look for news. Offsets are of DRAM, accesses aligned, so that none crosses a line.
class CpuReadLine {
 public:
  static constexpr uint32_t kBytes = 64;

  [[nodiscard]] bool read(uint32_t offset, uint32_t bytes, uint32_t& value) const {
    if (!holds(offset)) return false;
    value = 0;
    std::memcpy(&value, data_.data() + offset % kBytes, bytes);
    return true;
  }
  // A store of the CPU's own, which changes the line too.
  void write(uint32_t offset, uint32_t bytes, uint32_t value) {
    if (holds(offset)) std::memcpy(data_.data() + offset % kBytes, &value, bytes);
  }
  void drop() { held_ = false; }
  // For the line around `offset`, which is held from here on; the caller fills it, or drops it again.
  [[nodiscard]] std::span<uint8_t> replace(uint32_t offset) {
    first_ = offset - offset % kBytes;
    held_ = true;
    return data_;
  }
  [[nodiscard]] uint32_t first() const { return first_; }

 private:
  [[nodiscard]] bool holds(uint32_t offset) const { return held_ && offset - first_ < kBytes; }

  std::array<uint8_t, kBytes> data_{};
  uint32_t first_ = 0;
  bool held_ = false;
};

// When the last stores are in memory. They get there in order.
class CpuStores {
 public:
  static constexpr size_t kPlaces = 8;

  // The moment from which another store has a place; the moment at which memory has them all.
  [[nodiscard]] const sc_core::sc_time& room() const { return done_[next_]; }
  [[nodiscard]] const sc_core::sc_time& all_done() const { return last_; }
  void add(const sc_core::sc_time& done) {
    last_ = std::max(last_, done);
    done_[next_] = last_;
    next_ = (next_ + 1) % kPlaces;
  }

 private:
  std::array<sc_core::sc_time, kPlaces> done_{};
  sc_core::sc_time last_;
  size_t next_ = 0;
};

}  // namespace npu::model
