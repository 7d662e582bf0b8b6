// SPDX-License-Identifier: Apache-2.0
// The results of a tile as elements: what a command writes, in the order in which people count it.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "hw/engine/tile.h"

namespace npu::cosim {

// Elements at base + i0 * stride[0] + ... + i3 * stride[3]; the first dims are 1 where there are fewer than four.
struct ResultArray {
  contract::Address base;
  contract::Element type = contract::Element::kI8;
  bool is_unsigned = false;
  size_t rank = 4;  // how many of the last dims are meant
  std::array<uint64_t, 4> dims = {1, 1, 1, 1};
  std::array<int64_t, 4> stride{};

  [[nodiscard]] uint64_t elements() const { return dims[0] * dims[1] * dims[2] * dims[3]; }
  // Of an element by its number.
  [[nodiscard]] std::array<uint64_t, 4> index(uint64_t element) const;
  [[nodiscard]] int64_t offset(uint64_t element) const;  // from base
  [[nodiscard]] uint32_t element_bytes() const { return contract::element_bytes(type); }
  [[nodiscard]] int64_t value(const uint8_t* bytes) const;
};

[[nodiscard]] std::vector<ResultArray> results_of(const engine::Tile& tile);

}  // namespace npu::cosim
