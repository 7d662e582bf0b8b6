// SPDX-License-Identifier: Apache-2.0
// The output stage from 32-bit accumulators to bytes with AVX-512: 16 channels at a time, whose parameters stay in
// registers while the pixels pass by.
// Included by one kernels_*.cpp inside its target's pragma.

namespace npu::engine::NPU_SIMD {
namespace {

// Of 8 channels.
struct Scale64 {
  Scale64(const OutputStage& stage, size_t first, __mmask8 channels)
      : multiplier(_mm512_cvtepi32_epi64(_mm256_maskz_loadu_epi32(channels, stage.multiplier + first))),
        round(_mm512_maskz_loadu_epi64(channels, stage.round + first)),
        extra(_mm512_maskz_loadu_epi64(channels, stage.extra + first)),
        shift(_mm512_maskz_loadu_epi64(channels, stage.shift + first)) {}

  [[nodiscard]] __m256i scaled(__m256i narrow) const {
    const __m512i value = _mm512_cvtepi32_epi64(narrow);
    const __m512i rounded = _mm512_add_epi64(_mm512_mul_epi32(value, multiplier), round);
    const __m512i up = _mm512_add_epi64(rounded, extra);
    const __m512i sum = _mm512_mask_sub_epi64(up, _mm512_movepi64_mask(value), rounded, extra);
    return _mm512_cvtepi64_epi32(_mm512_srav_epi64(sum, shift));
  }

  __m512i multiplier, round, extra, shift;
};

void output8(const OutputStage& stage, const OutputBlock<int32_t>& block) {
  constexpr size_t kWidth = 16;
  const __m512i zero = _mm512_set1_epi32(stage.zero_point);
  const __m512i low = _mm512_set1_epi32(stage.low), high = _mm512_set1_epi32(stage.high);
  const __m512i clamp_min = _mm512_set1_epi32(stage.clamp_min), clamp_max = _mm512_set1_epi32(stage.clamp_max);
  for (size_t from = 0; from < block.channels; from += kWidth) {
    const size_t first = block.first_channel + from, left = block.channels - from;
    const auto channels = static_cast<__mmask16>(left < kWidth ? (1u << left) - 1 : 0xffffu);
    const auto upper_channels = static_cast<__mmask8>(channels >> 8);
    const Scale64 lower(stage, first, static_cast<__mmask8>(channels));
    // Without channels there may be no memory behind the lower ones to point to.
    const Scale64 upper(stage, upper_channels == 0 ? first : first + kWidth / 2, upper_channels);
    const __m512i bias = _mm512_maskz_loadu_epi32(channels, stage.bias32 + first);
    for (size_t p = 0; p < block.pixels; ++p) {
      const int64_t offset = block.row_offset == nullptr ? 0 : block.row_offset[p];
      const __m512i acc = _mm512_maskz_loadu_epi32(channels, block.acc + p * block.acc_stride + from);
      const __m512i value =
          _mm512_add_epi32(_mm512_add_epi32(acc, bias), _mm512_set1_epi32(static_cast<int32_t>(offset)));
      const __m256i scaled = lower.scaled(_mm512_castsi512_si256(value));
      const __m512i both =
          _mm512_inserti64x4(_mm512_castsi256_si512(scaled), upper.scaled(_mm512_extracti64x4_epi64(value, 1)), 1);
      const __m512i clipped = _mm512_min_epi32(_mm512_max_epi32(_mm512_add_epi32(both, zero), low), high);
      const __m512i result = _mm512_min_epi32(_mm512_max_epi32(clipped, clamp_min), clamp_max);
      _mm_mask_storeu_epi8(block.rows[p] + first, channels, _mm512_cvtepi32_epi8(result));
    }
  }
}

}  // namespace
}  // namespace npu::engine::NPU_SIMD
