// SPDX-License-Identifier: Apache-2.0
// Depthwise multiply-accumulate, channel by channel. Included by one kernels_*.cpp.

namespace npu::engine::NPU_SIMD {
namespace {

// kVectors vectors of sums stay in registers while the taps pass by.
template <class Element, int kVectors>
inline void depthwise_block(const uint8_t* const* src, const int16_t* const* weights, size_t taps, Accumulators zero,
                            size_t first, int32_t* acc) {
  Accumulators sum[kVectors];
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) sum[v] = load_accumulators(acc + v * kDotLanes);
  for (size_t t = 0; t < taps; ++t) {
    const uint8_t* element = src[t] + first * sizeof(Element);
    const uint8_t* weight = reinterpret_cast<const uint8_t*>(weights[t] + first);
#pragma GCC unroll 8
    for (size_t v = 0; v < kVectors; ++v) {
      const uint8_t* from = element + v * kDotLanes * sizeof(Element);
      const Accumulators factor = widen16(weight + v * kDotLanes * sizeof(int16_t));
      if constexpr (sizeof(Element) == 1) {
        add_product(sum[v], widen8(from), zero, factor);
      } else {
        add_product(sum[v], widen16(from), zero, factor);
      }
    }
  }
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) store_accumulators(acc + v * kDotLanes, sum[v]);
}

// Wrapping 32-bit sums on top of what `acc` holds.
template <class Element>
inline void depthwise_any(const uint8_t* const* src, const int16_t* const* weights, size_t taps, int32_t zero_point,
                          size_t channels, int32_t* acc) {
  constexpr int kVectors = 4;
  const Accumulators zero = splat(zero_point);
  size_t c = 0;
  for (; c + kVectors * kDotLanes <= channels; c += kVectors * kDotLanes) {
    depthwise_block<Element, kVectors>(src, weights, taps, zero, c, acc + c);
  }
  for (; c + kDotLanes <= channels; c += kDotLanes) {
    depthwise_block<Element, 1>(src, weights, taps, zero, c, acc + c);
  }
  for (; c < channels; ++c) {
    uint32_t sum = static_cast<uint32_t>(acc[c]);
    for (size_t t = 0; t < taps; ++t) {
      sum += static_cast<uint32_t>((load_at<Element>(src[t], c) - zero_point) * weights[t][c]);
    }
    acc[c] = static_cast<int32_t>(sum);
  }
}

void depthwise8(const uint8_t* const* src, const int16_t* const* weights, size_t taps, int32_t zero_point,
                size_t channels, int32_t* acc) {
  depthwise_any<int8_t>(src, weights, taps, zero_point, channels, acc);
}

void depthwise16(const uint8_t* const* src, const int16_t* const* weights, size_t taps, int32_t zero_point,
                 size_t channels, int64_t* acc) {
  // A product is below 2^24 and the sum of kMaxTaps of them at most 2^30.
  constexpr size_t kChannels = 256;
  const uint8_t* from[kMaxTaps];
  const int16_t* factors[kMaxTaps];
  for (size_t first = 0; first < channels; first += kChannels) {
    const size_t count = channels - first < kChannels ? channels - first : kChannels;
    for (size_t t = 0; t < taps; ++t) {
      from[t] = src[t] + first * sizeof(int16_t);
      factors[t] = weights[t] + first;
    }
    int32_t part[kChannels] = {};
    depthwise_any<int16_t>(from, factors, taps, zero_point, count, part);
    for (size_t c = 0; c < count; ++c) acc[first + c] += part[c];
  }
}

}  // namespace
}  // namespace npu::engine::NPU_SIMD
