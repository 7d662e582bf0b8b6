// SPDX-License-Identifier: Apache-2.0
// Dot products with AVX2. Bytes are widened to 16 bits first, since the byte multiply-add saturates.
// Included by one kernels_*.cpp inside its target's pragma.

namespace npu::engine::NPU_SIMD {
namespace {

inline constexpr int kDotLanes = 8;
inline constexpr int kTileRows = 4;
inline constexpr int kTilePanels = 1;
inline constexpr bool kHasOutput8 = false;
inline constexpr size_t kFloatLanes = 8;  // of a vector of FP32
inline constexpr int kFloatRows = 4;      // that share a load of weights

using Accumulators = __m256i;

inline Accumulators zero_accumulators() { return _mm256_setzero_si256(); }
inline void store_accumulators(int32_t* to, Accumulators acc) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), acc);
}

inline Accumulators load_accumulators(const int32_t* from) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}
inline Accumulators splat(int32_t value) { return _mm256_set1_epi32(value); }
inline Accumulators widen8(const uint8_t* from) {
  return _mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)));
}
inline Accumulators widen16(const uint8_t* from) {
  return _mm256_cvtepi16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
}
// acc += (element - zero) * weight
inline void add_product(Accumulators& acc, Accumulators element, Accumulators zero, Accumulators weight) {
  acc = _mm256_add_epi32(acc, _mm256_mullo_epi32(_mm256_sub_epi32(element, zero), weight));
}

inline __m256i splat_group(const uint8_t* at) {
  int32_t group;
  __builtin_memcpy(&group, at, sizeof(group));
  return _mm256_set1_epi32(group);
}

struct Dot8 {
  struct Pair {
    __m256i even, odd;  // bytes 0, 2 and 1, 3 of each group, as 16 bits
  };
  using Row = Pair;
  using Weights = Pair;
  static Row row(const uint8_t* at) {
    const __m256i bytes = splat_group(at);
    return {_mm256_and_si256(bytes, _mm256_set1_epi16(0xff)), _mm256_srli_epi16(bytes, 8)};
  }
  static Weights weights(const uint8_t* at) {
    const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
    return {_mm256_srai_epi16(_mm256_slli_epi16(bytes, 8), 8), _mm256_srai_epi16(bytes, 8)};
  }
  static void add(Accumulators& acc, const Row& a, const Weights& b) {
    acc = _mm256_add_epi32(acc, _mm256_add_epi32(_mm256_madd_epi16(a.even, b.even), _mm256_madd_epi16(a.odd, b.odd)));
  }
};

struct Dot16 {
  using Row = __m256i;
  using Weights = __m256i;
  static Row row(const uint8_t* at) { return splat_group(at); }
  static Weights weights(const uint8_t* at) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at)); }
  static void add(Accumulators& acc, Row a, Weights b) { acc = _mm256_add_epi32(acc, _mm256_madd_epi16(a, b)); }
};

void pack8(const uint8_t* w, ptrdiff_t stride, size_t channels, size_t k, uint8_t* panel) {
  const size_t groups = (k + kGroupBytes - 1) / kGroupBytes;
  if (channels < kPanel || k % kGroupBytes != 0) __builtin_memset(panel, 0, groups * kPanel * kGroupBytes);
  for (size_t c = 0; c < channels; ++c) {
    const uint8_t* from = w + static_cast<ptrdiff_t>(c) * stride;
    uint8_t* to = panel + c * kGroupBytes;
    for (size_t g = 0; g < k / kGroupBytes; ++g) {
      __builtin_memcpy(to + g * kPanel * kGroupBytes, from + g * kGroupBytes, kGroupBytes);
    }
    for (size_t i = k / kGroupBytes * kGroupBytes; i < k; ++i) {
      to[(groups - 1) * kPanel * kGroupBytes + i % kGroupBytes] = from[i];
    }
  }
}

#include "hw/engine/dot8_scalar-inl.h"

}  // namespace
}  // namespace npu::engine::NPU_SIMD
