// SPDX-License-Identifier: Apache-2.0
// SHA-256 (FIPS 180-4), so that reports name files by the hash that `sha256sum` prints.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace npu::report {

class Sha256 {
 public:
  void add(const void* data, size_t bytes);
  // 64 hexadecimal digits; nothing can be added afterwards.
  [[nodiscard]] std::string hex();

 private:
  void add_block(const uint8_t* block);

  std::array<uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<uint8_t, 64> pending_{};
  uint64_t bytes_ = 0;
};

}  // namespace npu::report
