// SPDX-License-Identifier: Apache-2.0
// Dot products with AVX-512 and its neural-network instructions (VNNI): unsigned bytes times signed bytes, and 16-bit
// pairs, accumulated exactly in 32 bits.
// Included by one kernels_*.cpp inside its target's pragma.

namespace npu::engine::NPU_SIMD {
namespace {

inline constexpr int kDotLanes = 16;
inline constexpr int kTileRows = 8;
inline constexpr int kTilePanels = 2;
inline constexpr bool kHasOutput8 = true;
inline constexpr size_t kFloatLanes = 16;  // of a vector of FP32
inline constexpr int kFloatRows = 4;       // that share a load of weights

using Accumulators = __m512i;

inline Accumulators zero_accumulators() { return _mm512_setzero_si512(); }
inline void store_accumulators(int32_t* to, Accumulators acc) { _mm512_storeu_si512(to, acc); }

inline Accumulators load_accumulators(const int32_t* from) { return _mm512_loadu_si512(from); }
inline Accumulators splat(int32_t value) { return _mm512_set1_epi32(value); }
inline Accumulators widen8(const uint8_t* from) {
  return _mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
}
inline Accumulators widen16(const uint8_t* from) {
  return _mm512_cvtepi16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
}
// acc += (element - zero) * weight
inline void add_product(Accumulators& acc, Accumulators element, Accumulators zero, Accumulators weight) {
  acc = _mm512_add_epi32(acc, _mm512_mullo_epi32(_mm512_sub_epi32(element, zero), weight));
}

inline __m512i splat_group(const uint8_t* at) {
  int32_t group;
  __builtin_memcpy(&group, at, sizeof(group));
  return _mm512_set1_epi32(group);
}

struct Dot8 {
  using Row = __m512i;
  using Weights = __m512i;
  static Row row(const uint8_t* at) { return splat_group(at); }
  static Weights weights(const uint8_t* at) { return _mm512_loadu_si512(at); }
  static void add(Accumulators& acc, Row a, Weights b) { acc = _mm512_dpbusd_epi32(acc, a, b); }
};

struct Dot16 {
  using Row = __m512i;
  using Weights = __m512i;
  static Row row(const uint8_t* at) { return splat_group(at); }
  static Weights weights(const uint8_t* at) { return _mm512_loadu_si512(at); }
  static void add(Accumulators& acc, Row a, Weights b) { acc = _mm512_dpwssd_epi32(acc, a, b); }
};

// In: row c holds 16 groups of channel c. Out: row g holds group g of the 16 channels.
inline void transpose16(__m512i* row) {
  __m512i t[16];
  for (int i = 0; i < 8; ++i) {
    t[2 * i] = _mm512_unpacklo_epi32(row[2 * i], row[2 * i + 1]);
    t[2 * i + 1] = _mm512_unpackhi_epi32(row[2 * i], row[2 * i + 1]);
  }
  for (int i = 0; i < 4; ++i) {
    row[4 * i] = _mm512_unpacklo_epi64(t[4 * i], t[4 * i + 2]);
    row[4 * i + 1] = _mm512_unpackhi_epi64(t[4 * i], t[4 * i + 2]);
    row[4 * i + 2] = _mm512_unpacklo_epi64(t[4 * i + 1], t[4 * i + 3]);
    row[4 * i + 3] = _mm512_unpackhi_epi64(t[4 * i + 1], t[4 * i + 3]);
  }
  for (int i = 0; i < 4; ++i) {
    t[i] = _mm512_shuffle_i32x4(row[i], row[4 + i], 0x88);
    t[4 + i] = _mm512_shuffle_i32x4(row[i], row[4 + i], 0xdd);
    t[8 + i] = _mm512_shuffle_i32x4(row[8 + i], row[12 + i], 0x88);
    t[12 + i] = _mm512_shuffle_i32x4(row[8 + i], row[12 + i], 0xdd);
  }
  for (int i = 0; i < 4; ++i) {
    row[i] = _mm512_shuffle_i32x4(t[i], t[8 + i], 0x88);
    row[8 + i] = _mm512_shuffle_i32x4(t[i], t[8 + i], 0xdd);
    row[4 + i] = _mm512_shuffle_i32x4(t[4 + i], t[12 + i], 0x88);
    row[12 + i] = _mm512_shuffle_i32x4(t[4 + i], t[12 + i], 0xdd);
  }
}

void pack8(const uint8_t* w, ptrdiff_t stride, size_t channels, size_t k, uint8_t* panel) {
  constexpr size_t kWidth = 64;
  for (size_t at = 0; at < k; at += kWidth) {
    const size_t bytes = k - at < kWidth ? k - at : kWidth;
    const __mmask64 mask = bytes == kWidth ? ~__mmask64{0} : (__mmask64{1} << bytes) - 1;
    __m512i row[kPanel];
    for (size_t c = 0; c < kPanel; ++c) {
      row[c] = c < channels ? _mm512_maskz_loadu_epi8(mask, w + static_cast<ptrdiff_t>(c) * stride + at)
                            : _mm512_setzero_si512();
    }
    transpose16(row);
    const size_t groups = (bytes + kGroupBytes - 1) / kGroupBytes;
    for (size_t g = 0; g < groups; ++g) {
      _mm512_storeu_si512(panel + (at / kGroupBytes + g) * kPanel * kGroupBytes, row[g]);
    }
  }
}

// Wrapping sum of all lanes. (The intrinsic of that name adds the last lanes as plain signed integers.)
inline int32_t sum_lanes(__m512i v) {
  const __m256i eight = _mm256_add_epi32(_mm512_castsi512_si256(v), _mm512_extracti64x4_epi64(v, 1));
  __m128i four = _mm_add_epi32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1));
  four = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0x4e));
  return _mm_cvtsi128_si32(_mm_add_epi32(four, _mm_shuffle_epi32(four, 0xb1)));
}

// kChannels channels against kRows rows, 64 bytes of the reduction at a time.
template <int kRows, int kChannels>
inline void dot_block(const uint8_t* a, size_t a_stride, const uint8_t* w, ptrdiff_t stride, size_t k, int32_t* acc,
                      size_t acc_stride, int32_t* sums) {
  constexpr size_t kWidth = 64;
  const __m512i ones = _mm512_set1_epi8(1);
  __m512i dot[kRows][kChannels], sum[kChannels];
#pragma GCC unroll 8
  for (int c = 0; c < kChannels; ++c) {
    sum[c] = _mm512_setzero_si512();
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) dot[r][c] = _mm512_setzero_si512();
  }
  for (size_t at = 0; at < k; at += kWidth) {
    const __mmask64 mask = k - at >= kWidth ? ~__mmask64{0} : (__mmask64{1} << (k - at)) - 1;
    __m512i row[kRows];
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      row[r] = _mm512_maskz_loadu_epi8(mask, a + static_cast<size_t>(r) * a_stride + at);
    }
#pragma GCC unroll 8
    for (int c = 0; c < kChannels; ++c) {
      const __m512i weights = _mm512_maskz_loadu_epi8(mask, w + c * stride + static_cast<ptrdiff_t>(at));
      sum[c] = _mm512_dpbusd_epi32(sum[c], ones, weights);
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) dot[r][c] = _mm512_dpbusd_epi32(dot[r][c], row[r], weights);
    }
  }
#pragma GCC unroll 8
  for (int c = 0; c < kChannels; ++c) {
    sums[c] = sum_lanes(sum[c]);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) acc[static_cast<size_t>(r) * acc_stride + c] = sum_lanes(dot[r][c]);
  }
}

template <int kRows>
inline void dot_rows(const uint8_t* a, size_t a_stride, const uint8_t* w, ptrdiff_t stride, size_t channels, size_t k,
                     int32_t* acc, size_t acc_stride, int32_t* sums) {
  size_t c = 0;
  for (; c + 4 <= channels; c += 4) {
    dot_block<kRows, 4>(a, a_stride, w + static_cast<ptrdiff_t>(c) * stride, stride, k, acc + c, acc_stride, sums + c);
  }
  for (; c < channels; ++c) {
    dot_block<kRows, 1>(a, a_stride, w + static_cast<ptrdiff_t>(c) * stride, stride, k, acc + c, acc_stride, sums + c);
  }
}

void dot8(const uint8_t* a, size_t a_stride, size_t rows, const uint8_t* w, ptrdiff_t stride, size_t channels, size_t k,
          int32_t* acc, size_t acc_stride, int32_t* sums) {
  size_t r = 0;
  for (; r + 2 <= rows; r += 2) {
    dot_rows<2>(a + r * a_stride, a_stride, w, stride, channels, k, acc + r * acc_stride, acc_stride, sums);
  }
  if (r < rows) dot_rows<1>(a + r * a_stride, a_stride, w, stride, channels, k, acc + r * acc_stride, acc_stride, sums);
}

}  // namespace
}  // namespace npu::engine::NPU_SIMD
