// SPDX-License-Identifier: Apache-2.0
// Floating point as the contract defines it: formats to and from FP32, and what operations do with NaNs. No function
// branches, so that loops over them become vectors. The compiler must neither fuse a product and a sum nor regroup
// (CMakeLists.txt). Included by one kernels_*.cpp.

namespace npu::engine::NPU_SIMD {
namespace {

inline constexpr uint32_t kFloatSign = 0x80000000, kFloatInfinity = 0x7f800000, kFloatNan = 0x7fc00000;

inline float as_float(uint32_t bits) { return __builtin_bit_cast(float, bits); }
inline uint32_t as_bits(float value) { return __builtin_bit_cast(uint32_t, value); }
inline bool is_nan(uint32_t bits) { return (bits & ~kFloatSign) > kFloatInfinity; }
// The NaN of the contract in place of any other.
inline uint32_t one_nan(uint32_t bits) { return is_nan(bits) ? kFloatNan : bits; }

// A format of up to 16 bits. Without infinities the largest exponent holds numbers, and all ones are its NaN.
template <class T, uint32_t kExponentBits, uint32_t kMantissaBits, bool kHasInfinity>
struct SmallFloat {
  using Bits = T;
  static constexpr uint32_t kSign = 1u << (kExponentBits + kMantissaBits);
  static constexpr uint32_t kInfinity = ((1u << kExponentBits) - 1) << kMantissaBits;
  static constexpr uint32_t kNan = kHasInfinity ? kInfinity | 1u << (kMantissaBits - 1) : kSign - 1;
  static constexpr uint32_t kLargest = (kHasInfinity ? kInfinity : kNan) - 1;
  static constexpr uint32_t kOverflow = kHasInfinity ? kInfinity : kNan;
  static constexpr uint32_t kDropped = 23 - kMantissaBits;                         // bits of the mantissa
  static constexpr uint32_t kBiasBelow = 127 - ((1u << (kExponentBits - 1)) - 1);  // FP32's is more by it
  static constexpr uint32_t kLeastNormal = (kBiasBelow + 1) << 23;                 // as FP32
  static constexpr uint32_t kUnits = (kBiasBelow + 1 + kDropped) << 23;            // 2^23 of the smallest subnormal

  static uint32_t widen(uint32_t from) {
    const uint32_t magnitude = from & (kSign - 1);
    const float scale = as_float((127 + kBiasBelow) << 23);
    uint32_t bits = kBiasBelow == 0 ? magnitude << kDropped : as_bits(as_float(magnitude << kDropped) * scale);
    if (kHasInfinity) bits = magnitude == kInfinity ? kFloatInfinity : bits;
    return magnitude > kOverflow || magnitude == kNan ? kFloatNan
                                                      : bits | (from & kSign) << (31 - __builtin_ctz(kSign));
  }

  static uint32_t narrow(uint32_t from) {
    const uint32_t magnitude = from & ~kFloatSign;
    const uint32_t normal = ((magnitude + (1u << (kDropped - 1)) - 1 + (magnitude >> kDropped & 1)) >> kDropped) -
                            (kBiasBelow << kMantissaBits);
    const uint32_t subnormal = as_bits(as_float(magnitude) + as_float(kUnits)) - kUnits;
    const uint32_t nearest = magnitude < kLeastNormal ? subnormal : normal;
    const uint32_t bits = nearest > kLargest ? kOverflow : nearest;
    // A NaN has no sign, whether it was one before or not.
    const bool is_nan = magnitude > kFloatInfinity || (!kHasInfinity && bits == kNan);
    return is_nan ? kNan : bits | (from & kFloatSign) >> (31 - __builtin_ctz(kSign));
  }
};
using F16 = SmallFloat<uint16_t, 5, 10, true>;
using Bf16 = SmallFloat<uint16_t, 8, 7, true>;
using F8e4m3 = SmallFloat<uint8_t, 4, 3, false>;
using F8e5m2 = SmallFloat<uint8_t, 5, 2, true>;
struct F32 {
  using Bits = uint32_t;
  static uint32_t widen(uint32_t from) { return from; }
  static uint32_t narrow(uint32_t from) { return from; }
};

// Calls f with the format of a floating-point element type, an empty object; not at all with another type.
template <class F>
inline void with_format(contract::Element type, F f) {
  switch (type) {
    case contract::Element::kF16:
      return f(F16());
    case contract::Element::kBf16:
      return f(Bf16());
    case contract::Element::kF32:
      return f(F32());
    case contract::Element::kF8e4m3:
      return f(F8e4m3());
    case contract::Element::kF8e5m2:
      return f(F8e5m2());
    case contract::Element::kI8:
    case contract::Element::kI16:
    case contract::Element::kI32:
    case contract::Element::kI48:
    case contract::Element::kBool:
      return;
  }
}

// max and min of the contract, patterns in and out: of equal ones the first.
template <bool kMax>
inline uint32_t better_float(uint32_t a, uint32_t b, bool ignore_nan) {
  const float x = as_float(a), y = as_float(b);
  const uint32_t number = (kMax ? y > x : y < x) ? b : a;
  const bool a_nan = is_nan(a), b_nan = is_nan(b);
  const uint32_t with_nan = ignore_nan && a_nan != b_nan ? (a_nan ? b : a) : kFloatNan;
  return a_nan || b_nan ? with_nan : number;
}

// a between the limits; a NaN becomes the lower one or stays.
inline uint32_t clamp_float(uint32_t a, uint32_t low, uint32_t high, bool ignore_nan) {
  const float x = as_float(a);
  const uint32_t raised = x < as_float(low) ? low : a;
  const uint32_t clamped = as_float(raised) > as_float(high) ? high : raised;
  return is_nan(a) ? (ignore_nan ? low : kFloatNan) : clamped;
}

void to_floats(contract::Element type, const uint8_t* from, size_t count, float* to) {
  with_format(type, [=](auto format) {
    using Bits = typename decltype(format)::Bits;
    NPU_INDEPENDENT
    for (size_t i = 0; i < count; ++i) to[i] = as_float(decltype(format)::widen(load_at<Bits>(from, i)));
  });
}

void from_floats(contract::Element type, const float* from, size_t count, uint8_t* to) {
  with_format(type, [=](auto format) {
    using Bits = typename decltype(format)::Bits;
    NPU_INDEPENDENT
    for (size_t i = 0; i < count; ++i) {
      store_at<Bits>(to, i, static_cast<Bits>(decltype(format)::narrow(one_nan(as_bits(from[i])))));
    }
  });
}

}  // namespace
}  // namespace npu::engine::NPU_SIMD
