// SPDX-License-Identifier: Apache-2.0
// Memory that an engine reuses from tile to tile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace npu::engine {

// Grows to the largest request and stays. Contents do not survive a growth. Aligned to 64 bytes.
class Scratch {
 public:
  template <class T>
  [[nodiscard]] T* get(size_t count) {
    const size_t need = count * sizeof(T) + kAlignment;
    if (bytes_.size() < need) bytes_ = std::vector<uint8_t>(need);
    const size_t misaligned = reinterpret_cast<uintptr_t>(bytes_.data()) % kAlignment;
    return reinterpret_cast<T*>(bytes_.data() + (misaligned == 0 ? 0 : kAlignment - misaligned));
  }

 private:
  static constexpr size_t kAlignment = 64;
  std::vector<uint8_t> bytes_;
};

}  // namespace npu::engine
