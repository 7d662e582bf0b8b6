// SPDX-License-Identifier: Apache-2.0
#include "hw/engine/mxu_patches.h"

#include <algorithm>
#include <cstring>

#include "hw/engine/kernels.h"

namespace npu::engine {

namespace {

constexpr uint8_t kBias = 0x80;
constexpr uint64_t kBias8 = 0x8080808080808080;

// Adds 128 to every byte.
void copy_biased(uint8_t* to, const uint8_t* from, uint64_t bytes) {
  uint64_t i = 0;
  for (; i + sizeof(uint64_t) <= bytes; i += sizeof(uint64_t)) {
    uint64_t word;
    std::memcpy(&word, from + i, sizeof(word));
    word ^= kBias8;
    std::memcpy(to + i, &word, sizeof(word));
  }
  for (; i < bytes; ++i) to[i] = from[i] ^ kBias;
}

}  // namespace

PatchReader::PatchReader(const MxuTile& tile, const uint8_t* src, int32_t zero_point)
    : tile_(tile),
      src_(src),
      zero_point_(zero_point),
      position_bytes_(tile.command.in_c * tile.src_bytes),
      row_bytes_((tile.reduction * tile.src_bytes + kGroupBytes - 1) / kGroupBytes * kGroupBytes),
      dense_(tile.command.dilation_x == 1 && tile.command.src_pixel_stride == static_cast<int64_t>(position_bytes_)),
      plain_(tile.taps == 1 && tile.command.stride_x == 1 && row_bytes_ == position_bytes_ && dense_) {}

const uint8_t* PatchReader::at(int64_t y, int64_t x) const {
  return src_ + (y - tile_.rows.begin) * tile_.command.src_row_stride +
         (x - tile_.cols.begin) * tile_.command.src_pixel_stride;
}

void PatchReader::fill(uint8_t* to, uint64_t positions) const {
  const uint64_t bytes = positions * position_bytes_;
  if (tile_.src_bytes == 1) {
    std::memset(to, static_cast<uint8_t>(zero_point_) ^ kBias, bytes);
    return;
  }
  const int16_t value = static_cast<int16_t>(zero_point_);
  for (uint64_t i = 0; i < bytes; i += sizeof(value)) std::memcpy(to + i, &value, sizeof(value));
}

void PatchReader::copy(uint8_t* to, const uint8_t* from, uint64_t bytes) const {
  if (tile_.src_bytes == 1) {
    copy_biased(to, from, bytes);
  } else {
    std::memcpy(to, from, bytes);
  }
}

void PatchReader::read_pixel(int64_t y, int64_t x, uint8_t* to) const {
  const contract::MxuCommand& command = tile_.command;
  const int64_t kernel_w = command.kernel_w;
  for (int64_t ky = 0; ky < command.kernel_h; ++ky, y += command.dilation_y) {
    uint8_t* row = to + static_cast<uint64_t>(ky * kernel_w) * position_bytes_;
    if (y < tile_.rows.begin || y >= tile_.rows.end) {
      fill(row, command.kernel_w);
    } else if (dense_) {
      const int64_t begin = std::clamp<int64_t>(tile_.cols.begin - x, 0, kernel_w);
      const int64_t end = std::clamp<int64_t>(tile_.cols.end - x, begin, kernel_w);
      if (begin > 0) fill(row, begin);
      if (end > begin) copy(row + begin * position_bytes_, at(y, x + begin), (end - begin) * position_bytes_);
      if (end < kernel_w) fill(row + end * position_bytes_, kernel_w - end);
    } else {
      for (int64_t kx = 0; kx < kernel_w; ++kx) {
        const int64_t column = x + kx * command.dilation_x;
        uint8_t* position = row + kx * position_bytes_;
        if (column < tile_.cols.begin || column >= tile_.cols.end) {
          fill(position, 1);
        } else {
          copy(position, at(y, column), position_bytes_);
        }
      }
    }
  }
  const uint64_t used = tile_.reduction * tile_.src_bytes;
  if (used < row_bytes_) std::memset(to + used, 0, row_bytes_ - used);
}

void PatchReader::read(uint64_t first, uint64_t count, uint8_t* to) const {
  const contract::MxuCommand& command = tile_.command;
  int64_t out_y = static_cast<int64_t>(first / command.out_w);
  int64_t out_x = static_cast<int64_t>(first % command.out_w);
  for (uint64_t done = 0; done < count;) {
    const int64_t y = out_y * command.stride_y - command.pad_top;
    const int64_t x = out_x * command.stride_x - command.pad_left;
    uint64_t pixels = 1;
    const bool inside = y >= tile_.rows.begin && y < tile_.rows.end && x >= tile_.cols.begin && x < tile_.cols.end;
    if (plain_ && inside) {
      pixels = std::min<uint64_t>(
          {count - done, static_cast<uint64_t>(command.out_w - out_x), static_cast<uint64_t>(tile_.cols.end - x)});
      copy(to, at(y, x), pixels * row_bytes_);
    } else {
      read_pixel(y, x, to);
    }
    done += pixels;
    to += pixels * row_bytes_;
    out_x += static_cast<int64_t>(pixels);
    if (out_x == command.out_w) {
      out_x = 0;
      ++out_y;
    }
  }
}

}  // namespace npu::engine
