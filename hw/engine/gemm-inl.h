// SPDX-License-Identifier: Apache-2.0
// Matrix products over packed panels, from the dot products of a set. Included by one kernels_*.cpp.

namespace npu::engine::NPU_SIMD {
namespace {

inline constexpr size_t kGroupPanelBytes = kPanel * kGroupBytes;

// kRows rows against kPanels panels, all sums in registers.
template <class Dot, int kRows, int kPanels>
inline void dot_tile(const uint8_t* a, size_t a_stride, const uint8_t* b, size_t panel_bytes, size_t groups,
                     int32_t* acc, size_t acc_stride) {
  constexpr int kPerPanel = static_cast<int>(kPanel) / kDotLanes;
  constexpr int kVectors = kPanels * kPerPanel;
  Accumulators sum[kRows][kVectors];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) sum[r][v] = zero_accumulators();
  }
  for (size_t g = 0; g < groups; ++g) {
    typename Dot::Weights weights[kVectors];
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      const size_t at = static_cast<size_t>(v / kPerPanel) * panel_bytes + g * kGroupPanelBytes +
                        static_cast<size_t>(v % kPerPanel) * kDotLanes * kGroupBytes;
      weights[v] = Dot::weights(b + at);
    }
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const typename Dot::Row row = Dot::row(a + static_cast<size_t>(r) * a_stride + g * kGroupBytes);
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) Dot::add(sum[r][v], row, weights[v]);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      store_accumulators(acc + static_cast<size_t>(r) * acc_stride + static_cast<size_t>(v) * kDotLanes, sum[r][v]);
    }
  }
}

// Calls visit(rows, tile) for pieces of kTileRows rows, then of powers of two: `rows` is the piece's first row.
template <class Dot, int kRows, int kPanels>
inline void dot_rows_from(size_t& r, size_t rows, const uint8_t* a, size_t a_stride, const uint8_t* b,
                          size_t panel_bytes, size_t groups, int32_t* acc, size_t acc_stride) {
  for (; r + kRows <= rows; r += kRows) {
    dot_tile<Dot, kRows, kPanels>(a + r * a_stride, a_stride, b, panel_bytes, groups, acc + r * acc_stride, acc_stride);
  }
  if constexpr (kRows > 1) {
    dot_rows_from<Dot, kRows / 2, kPanels>(r, rows, a, a_stride, b, panel_bytes, groups, acc, acc_stride);
  }
}

void gemm8(const uint8_t* a, size_t a_stride, size_t rows, const uint8_t* b, size_t groups, size_t panels, int32_t* acc,
           size_t acc_stride) {
  const size_t panel_bytes = groups * kGroupPanelBytes;
  size_t p = 0;
  for (; p + kTilePanels <= panels; p += kTilePanels) {
    size_t r = 0;
    dot_rows_from<Dot8, kTileRows, kTilePanels>(r, rows, a, a_stride, b + p * panel_bytes, panel_bytes, groups,
                                                acc + p * kPanel, acc_stride);
  }
  for (; p < panels; ++p) {
    size_t r = 0;
    dot_rows_from<Dot8, kTileRows, 1>(r, rows, a, a_stride, b + p * panel_bytes, panel_bytes, groups, acc + p * kPanel,
                                      acc_stride);
  }
}

void gemm16(const uint8_t* a, size_t a_stride, size_t rows, const uint8_t* b, size_t groups, size_t panels,
            int64_t scale, int64_t* acc, size_t acc_stride) {
  // 256 products of at most 2^23 fit into 32 bits.
  constexpr size_t kChunk = 128;
  const size_t panel_bytes = groups * kGroupPanelBytes;
  int32_t part[kTileRows * kPanel];
  for (size_t p = 0; p < panels; ++p) {
    for (size_t r0 = 0; r0 < rows; r0 += kTileRows) {
      const size_t count = rows - r0 < kTileRows ? rows - r0 : kTileRows;
      for (size_t g = 0; g < groups; g += kChunk) {
        const size_t length = groups - g < kChunk ? groups - g : kChunk;
        size_t r = 0;
        dot_rows_from<Dot16, kTileRows, 1>(r, count, a + r0 * a_stride + g * kGroupBytes, a_stride,
                                           b + p * panel_bytes + g * kGroupPanelBytes, panel_bytes, length, part,
                                           kPanel);
        for (r = 0; r < count; ++r) {
          int64_t* to = acc + (r0 + r) * acc_stride + p * kPanel;
          for (size_t c = 0; c < kPanel; ++c) to[c] += part[r * kPanel + c] * scale;
        }
      }
    }
  }
}

}  // namespace
}  // namespace npu::engine::NPU_SIMD
