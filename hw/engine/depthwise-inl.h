// Depthwise multiply-accumulate, channel by channel. Included by one kernels_*.cpp.

namespace npu::engine::NPU_SIMD {
namespace {

// kWidth channels at a time stay in registers while the taps pass by.
template <class Element, class Accumulator, size_t kWidth>
inline void depthwise_block(const uint8_t* const* src, const int16_t* const* weights, size_t taps, Accumulator zero,
                            size_t first, Accumulator* acc) {
  Accumulator sum[kWidth];
  for (size_t c = 0; c < kWidth; ++c) sum[c] = acc[c];
  for (size_t t = 0; t < taps; ++t) {
    const uint8_t* from = src[t] + first * sizeof(Element);
    const int16_t* w = weights[t] + first;
    for (size_t c = 0; c < kWidth; ++c) {
      sum[c] += (static_cast<Accumulator>(load_at<Element>(from, c)) - zero) * static_cast<Accumulator>(w[c]);
    }
  }
  for (size_t c = 0; c < kWidth; ++c) acc[c] = sum[c];
}

template <class Element, class Accumulator>
inline void depthwise_any(const uint8_t* const* src, const int16_t* const* weights, size_t taps, Accumulator zero,
                          size_t channels, Accumulator* acc) {
  constexpr size_t kWide = 256 / sizeof(Accumulator);
  constexpr size_t kNarrow = 64 / sizeof(Accumulator);
  size_t c = 0;
  for (; c + kWide <= channels; c += kWide) {
    depthwise_block<Element, Accumulator, kWide>(src, weights, taps, zero, c, acc + c);
  }
  for (; c + kNarrow <= channels; c += kNarrow) {
    depthwise_block<Element, Accumulator, kNarrow>(src, weights, taps, zero, c, acc + c);
  }
  for (; c < channels; ++c) depthwise_block<Element, Accumulator, 1>(src, weights, taps, zero, c, acc + c);
}

// Unsigned, since the sum wraps.
void depthwise8(const uint8_t* const* src, const int16_t* const* weights, size_t taps, int32_t zero_point,
                size_t channels, int32_t* acc) {
  depthwise_any<int8_t, uint32_t>(src, weights, taps, static_cast<uint32_t>(zero_point), channels,
                                  reinterpret_cast<uint32_t*>(acc));
}

void depthwise16(const uint8_t* const* src, const int16_t* const* weights, size_t taps, int32_t zero_point,
                 size_t channels, int64_t* acc) {
  depthwise_any<int16_t, int64_t>(src, weights, taps, zero_point, channels, acc);
}

}  // namespace
}  // namespace npu::engine::NPU_SIMD
