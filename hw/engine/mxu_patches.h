// SPDX-License-Identifier: Apache-2.0
// The input of a convolution as a matrix: a row per output pixel with the whole kernel window.
#pragma once

#include <cstdint>

#include "hw/engine/mxu_tile.h"

namespace npu::engine {

// Window positions outside the input box hold the zero point. int8 elements are biased by 128, as the unsigned side of
// the dot product; int16 elements stay as they are. Rows are zero-filled up to whole groups of kGroupBytes.
class PatchReader {
 public:
  // `src` is the byte of (rows.begin, cols.begin); it may be null when the tile reads no input.
  PatchReader(const MxuTile& tile, const uint8_t* src, int32_t zero_point);

  [[nodiscard]] size_t row_bytes() const { return row_bytes_; }
  // Writes rows first .. first + count of the matrix.
  void read(uint64_t first, uint64_t count, uint8_t* to) const;

 private:
  void read_pixel(int64_t y, int64_t x, uint8_t* to) const;
  void fill(uint8_t* to, uint64_t positions) const;
  void copy(uint8_t* to, const uint8_t* from, uint64_t bytes) const;
  [[nodiscard]] const uint8_t* at(int64_t y, int64_t x) const;

  const MxuTile& tile_;
  const uint8_t* src_;
  int32_t zero_point_;
  uint64_t position_bytes_;  // of one kernel position
  size_t row_bytes_;
  bool dense_;  // neighbouring kernel columns are neighbours in memory
  bool plain_;  // a row is one pixel, and neighbouring rows are neighbours in memory
};

}  // namespace npu::engine
