// SPDX-License-Identifier: Apache-2.0
// Dot products in plain C++, for machines without a better set and as the simplest statement of what the others do.
// Included by one kernels_*.cpp inside its target's pragma.

namespace npu::engine::NPU_SIMD {
namespace {

inline constexpr int kDotLanes = 16;  // channels of one vector
inline constexpr int kTileRows = 2;   // rows and panels that a tile keeps in registers
inline constexpr int kTilePanels = 1;
inline constexpr bool kHasOutput8 = false;
inline constexpr size_t kFloatLanes = 4;  // of a vector of FP32
inline constexpr int kFloatRows = 4;      // that share a load of weights

struct Accumulators {
  uint32_t lane[kPanel];  // wrapping
};

inline Accumulators zero_accumulators() { return {}; }
inline void store_accumulators(int32_t* to, const Accumulators& acc) {
  for (int c = 0; c < kDotLanes; ++c) to[c] = static_cast<int32_t>(acc.lane[c]);
}

inline Accumulators load_accumulators(const int32_t* from) {
  Accumulators acc;
  for (int c = 0; c < kDotLanes; ++c) acc.lane[c] = static_cast<uint32_t>(from[c]);
  return acc;
}
inline Accumulators splat(int32_t value) {
  Accumulators acc;
  for (int c = 0; c < kDotLanes; ++c) acc.lane[c] = static_cast<uint32_t>(value);
  return acc;
}
inline Accumulators widen8(const uint8_t* from) {
  Accumulators acc;
  for (int c = 0; c < kDotLanes; ++c) acc.lane[c] = static_cast<uint32_t>(static_cast<int8_t>(from[c]));
  return acc;
}
inline Accumulators widen16(const uint8_t* from) {
  Accumulators acc;
  for (size_t c = 0; c < kDotLanes; ++c) acc.lane[c] = static_cast<uint32_t>(load_at<int16_t>(from, c));
  return acc;
}
// acc += (element - zero) * weight
inline void add_product(Accumulators& acc, const Accumulators& element, const Accumulators& zero,
                        const Accumulators& weight) {
  for (int c = 0; c < kDotLanes; ++c) acc.lane[c] += (element.lane[c] - zero.lane[c]) * weight.lane[c];
}

// Four bytes of a row against the four bytes of each channel: unsigned times signed.
struct Dot8 {
  using Row = const uint8_t*;
  using Weights = const int8_t*;
  static Row row(const uint8_t* at) { return at; }
  static Weights weights(const uint8_t* at) { return reinterpret_cast<const int8_t*>(at); }
  static void add(Accumulators& acc, Row a, Weights b) {
    for (int c = 0; c < kDotLanes; ++c) {
      const int32_t dot = a[0] * b[c * 4] + a[1] * b[c * 4 + 1] + a[2] * b[c * 4 + 2] + a[3] * b[c * 4 + 3];
      acc.lane[c] += static_cast<uint32_t>(dot);
    }
  }
};

// Two signed 16-bit elements of a row against those of each channel.
struct Dot16 {
  using Row = const int16_t*;
  using Weights = const int16_t*;
  static Row row(const uint8_t* at) { return reinterpret_cast<const int16_t*>(at); }
  static Weights weights(const uint8_t* at) { return reinterpret_cast<const int16_t*>(at); }
  static void add(Accumulators& acc, Row a, Weights b) {
    for (int c = 0; c < kDotLanes; ++c) {
      acc.lane[c] += static_cast<uint32_t>(a[0] * b[c * 2]) + static_cast<uint32_t>(a[1] * b[c * 2 + 1]);
    }
  }
};

void pack8(const uint8_t* w, ptrdiff_t stride, size_t channels, size_t k, uint8_t* panel) {
  const size_t groups = (k + kGroupBytes - 1) / kGroupBytes;
  for (size_t g = 0; g < groups; ++g) {
    for (size_t c = 0; c < kPanel; ++c) {
      for (size_t i = 0; i < kGroupBytes; ++i) {
        const size_t at = g * kGroupBytes + i;
        const bool real = c < channels && at < k;
        panel[(g * kPanel + c) * kGroupBytes + i] = real ? w[static_cast<ptrdiff_t>(c) * stride + at] : 0;
      }
    }
  }
}

#include "hw/engine/dot8_scalar-inl.h"

}  // namespace
}  // namespace npu::engine::NPU_SIMD
