// SPDX-License-Identifier: Apache-2.0
// The constants region while it grows.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace npu::compiler::backend {

class ConstantPool {
 public:
  static constexpr int64_t kAlignment = 64;

  // Offset of these bytes in the region; equal bytes are placed once. Throws Error(dram_full) when the region gets
  // larger than commands reach.
  [[nodiscard]] int64_t add(std::span<const uint8_t> bytes);
  [[nodiscard]] std::vector<uint8_t> take() { return std::move(data_); }

 private:
  struct Block {
    int64_t offset, bytes;
  };
  std::vector<uint8_t> data_;
  std::unordered_multimap<uint64_t, Block> blocks_;  // by hash of the bytes
};

}  // namespace npu::compiler::backend
