// SPDX-License-Identifier: Apache-2.0
// Pooling windows, channel by channel. Included by one kernels_*.cpp.

namespace npu::engine::NPU_SIMD {
namespace {

template <class T>
inline void pool_add_any(bool average, const uint8_t* const* src, size_t taps, size_t channels,
                         int32_t* __restrict acc) {
  for (size_t t = 0; t < taps; ++t) {
    const uint8_t* __restrict from = src[t];
    if (average) {
      for (size_t c = 0; c < channels; ++c) {
        acc[c] = static_cast<int32_t>(static_cast<uint32_t>(acc[c]) + static_cast<uint32_t>(load_at<T>(from, c)));
      }
    } else {
      for (size_t c = 0; c < channels; ++c) {
        const int32_t value = load_at<T>(from, c);
        acc[c] = acc[c] > value ? acc[c] : value;
      }
    }
  }
}

void pool_add(contract::Element type, bool average, const uint8_t* const* src, size_t taps, size_t channels,
              int32_t* acc) {
  if (type == contract::Element::kI8) {
    pool_add_any<int8_t>(average, src, taps, channels, acc);
  } else {
    pool_add_any<int16_t>(average, src, taps, channels, acc);
  }
}

template <class T>
inline void pool_finish_any(const PoolFinish& finish, int32_t low, int32_t high, const int32_t* __restrict acc,
                            size_t channels, uint8_t* __restrict dst) {
  if (!finish.average) {
    for (size_t c = 0; c < channels; ++c) store_at<T>(dst, c, static_cast<T>(acc[c]));
    return;
  }
  const uint32_t offset = static_cast<uint32_t>(finish.offset), zero = static_cast<uint32_t>(finish.zero_point);
  const int64_t multiplier = finish.multiplier, round = finish.round, shift = finish.shift;
  for (size_t c = 0; c < channels; ++c) {
    const int64_t value = static_cast<int32_t>(static_cast<uint32_t>(acc[c]) - offset);
    const int32_t scaled = scale_value(value * multiplier, false, round, 0, shift);
    store_at<T>(dst, c, static_cast<T>(clip(static_cast<int32_t>(static_cast<uint32_t>(scaled) + zero), low, high)));
  }
}

void pool_finish(const PoolFinish& finish, const int32_t* acc, size_t channels, uint8_t* dst) {
  if (finish.type == contract::Element::kI8) {
    pool_finish_any<int8_t>(finish, -0x80, 0x7f, acc, channels, dst);
  } else {
    pool_finish_any<int16_t>(finish, -0x8000, 0x7fff, acc, channels, dst);
  }
}

}  // namespace
}  // namespace npu::engine::NPU_SIMD
