// SPDX-License-Identifier: Apache-2.0
// The interpreter of element-wise micro-programs: one pass over the block's registers for each micro-operation.
// Included by one kernels_*.cpp.

namespace npu::engine::NPU_SIMD {
namespace {

using contract::Element;
using contract::Uop;
using contract::UopCode;

// Registers may be the same one or are apart, so that elements never depend on each other.
template <class F>
inline void map1(int64_t* dst, const int64_t* a, size_t n, F f) {
  NPU_INDEPENDENT
  for (size_t i = 0; i < n; ++i) dst[i] = f(a[i]);
}

template <class F>
inline void map2(int64_t* dst, const int64_t* a, const int64_t* b, size_t n, F f) {
  NPU_INDEPENDENT
  for (size_t i = 0; i < n; ++i) dst[i] = f(a[i], b[i]);
}

inline int64_t wrap32(uint64_t value) { return static_cast<int32_t>(static_cast<uint32_t>(value)); }
inline int64_t wrap16(uint64_t value) { return static_cast<int16_t>(static_cast<uint16_t>(value)); }
inline int64_t wrap8(uint64_t value) { return static_cast<int8_t>(static_cast<uint8_t>(value)); }

// Calls f with the function that keeps a value to the element type.
template <class F>
inline void with_wrap(Element type, F f) {
  switch (type) {
    case Element::kI8:
      return f([](uint64_t v) { return wrap8(v); }, uint64_t{0xff});
    case Element::kI16:
      return f([](uint64_t v) { return wrap16(v); }, uint64_t{0xffff});
    case Element::kI32:
      return f([](uint64_t v) { return wrap32(v); }, uint64_t{0xffffffff});
    case Element::kI48:
      return f([](uint64_t v) { return wrap48(static_cast<int64_t>(v)); }, uint64_t{0xffffffffffff});
    case Element::kBool:
      return f([](uint64_t v) { return static_cast<int64_t>(v != 0); }, uint64_t{0x1});
    case Element::kF16:
    case Element::kBf16:
    case Element::kF32:
    case Element::kF8e4m3:
    case Element::kF8e5m2:
      return;  // no micro-operation keeps to them
  }
}

template <class T>
inline void load_rows(const UopBlock& block, const UopStream& from, int64_t* dst) {
  for (size_t r = 0; r < block.rows; ++r, dst += block.cols) {
    const uint8_t* row = from.data + static_cast<int64_t>(r) * from.row_stride;
    if (from.col_stride == static_cast<int64_t>(sizeof(T))) {
      for (size_t c = 0; c < block.cols; ++c) dst[c] = load_at<T>(row, c);
    } else {
      for (size_t c = 0; c < block.cols; ++c) dst[c] = load_at<T>(row + static_cast<int64_t>(c) * from.col_stride, 0);
    }
  }
}

// A register's FP32 pattern.
inline uint32_t float_of(int64_t value) { return static_cast<uint32_t>(value); }
inline int64_t float_value(uint32_t bits) { return static_cast<int32_t>(bits); }

inline void load_floats(const UopBlock& block, const UopStream& from, int64_t* dst) {
  with_format(from.type, [&](auto format) {
    load_rows<typename decltype(format)::Bits>(block, from, dst);
    map1(dst, dst, block.rows * block.cols,
         [](int64_t v) { return float_value(decltype(format)::widen(float_of(v))); });
  });
}

inline void load(const UopBlock& block, const Uop& uop, int64_t* dst) {
  const UopStream& from = block.streams[uop.a];
  const bool is_unsigned = (uop.imm0 & 1) != 0;
  switch (from.type) {
    case Element::kI8:
      return is_unsigned ? load_rows<uint8_t>(block, from, dst) : load_rows<int8_t>(block, from, dst);
    case Element::kI16:
      return is_unsigned ? load_rows<uint16_t>(block, from, dst) : load_rows<int16_t>(block, from, dst);
    case Element::kI32:
      return is_unsigned ? load_rows<uint32_t>(block, from, dst) : load_rows<int32_t>(block, from, dst);
    case Element::kI48:
      return load_rows<int64_t>(block, from, dst);
    case Element::kBool:
      load_rows<uint8_t>(block, from, dst);
      return map1(dst, dst, block.rows * block.cols, [](int64_t v) { return static_cast<int64_t>(v != 0); });
    case Element::kF16:
    case Element::kBf16:
    case Element::kF32:
    case Element::kF8e4m3:
    case Element::kF8e5m2:
      return load_floats(block, from, dst);
  }
}

template <class T>
inline void store_rows(const UopBlock& block, const UopStream& to, const int64_t* src) {
  for (size_t r = 0; r < block.rows; ++r, src += block.cols) {
    uint8_t* row = to.data + static_cast<int64_t>(r) * to.row_stride;
    if (to.col_stride == static_cast<int64_t>(sizeof(T))) {
      NPU_INDEPENDENT
      for (size_t c = 0; c < block.cols; ++c) store_at<T>(row, c, static_cast<T>(src[c]));
    } else {
      for (size_t c = 0; c < block.cols; ++c) {
        store_at<T>(row + static_cast<int64_t>(c) * to.col_stride, 0, static_cast<T>(src[c]));
      }
    }
  }
}

inline void store_floats(const UopBlock& block, const UopStream& to, const int64_t* src) {
  int64_t patterns[kBlockElements];
  with_format(to.type, [&](auto format) {
    map1(patterns, src, block.rows * block.cols,
         [](int64_t v) -> int64_t { return decltype(format)::narrow(float_of(v)); });
    store_rows<typename decltype(format)::Bits>(block, to, patterns);
  });
}

inline void store(const UopBlock& block, const Uop& uop, const int64_t* src) {
  const UopStream& to = block.streams[uop.b];
  switch (to.type) {
    case Element::kI8:
    case Element::kBool:
      return store_rows<int8_t>(block, to, src);
    case Element::kI16:
      return store_rows<int16_t>(block, to, src);
    case Element::kI32:
      return store_rows<int32_t>(block, to, src);
    case Element::kI48:
      return store_rows<int64_t>(block, to, src);
    case Element::kF16:
    case Element::kBf16:
    case Element::kF32:
    case Element::kF8e4m3:
    case Element::kF8e5m2:
      return store_floats(block, to, src);
  }
}

template <bool kPerElement, bool kWide>
inline void rescale_any(const UopRescale& with, int64_t* dst, const int64_t* a, size_t n) {
  const int64_t input_zp = with.input_zp;
  const uint32_t output_zp = static_cast<uint32_t>(with.output_zp);
  const int32_t low = with.low, high = with.high, clamp_min = with.clamp_min, clamp_max = with.clamp_max;
  const int32_t* multiplier = with.multiplier;
  const int64_t* round = with.round;
  const int64_t* extra = with.extra;
  const int64_t* shift = with.shift;
  const int32_t multiplier0 = multiplier[0];
  const int64_t round0 = round[0], extra0 = extra[0], shift0 = shift[0];
  NPU_INDEPENDENT
  for (size_t i = 0; i < n; ++i) {
    const int64_t moved = wrapping_add(a[i], -input_zp);
    const int64_t value = kWide ? wrap48(moved) : wrap32(static_cast<uint64_t>(moved));
    const int64_t factor = kPerElement ? multiplier[i] : multiplier0;
    const int32_t scaled = scale_value(value * factor, value < 0, kPerElement ? round[i] : round0,
                                       kPerElement ? extra[i] : extra0, kPerElement ? shift[i] : shift0);
    const int32_t result = static_cast<int32_t>(static_cast<uint32_t>(scaled) + output_zp);
    dst[i] = clip(clip(result, low, high), clamp_min, clamp_max);
  }
}

inline void rescale(const UopRescale& with, int64_t* dst, const int64_t* a, size_t n) {
  if (with.per_element) {
    with.wide ? rescale_any<true, true>(with, dst, a, n) : rescale_any<true, false>(with, dst, a, n);
  } else {
    with.wide ? rescale_any<false, true>(with, dst, a, n) : rescale_any<false, false>(with, dst, a, n);
  }
}

// apply_lookup of the specification: 512 intervals of 128 values, interpolated to 23 bits.
inline int64_t lookup16(const uint8_t* table, int64_t value) {
  const int32_t clipped = static_cast<int32_t>(value < -32768 ? -32768 : value > 32767 ? 32767 : value);
  const size_t index = static_cast<size_t>((clipped + 32768) >> 7);
  const int32_t base = load_at<int16_t>(table, index);
  const int32_t slope = load_at<int16_t>(table, index + 1) - base;
  return base * 128 + slope * (clipped & 0x7f);
}

inline int64_t count_leading_zeros(int64_t value) {
  const uint32_t low = static_cast<uint32_t>(value);
  return low == 0 ? 32 : __builtin_clz(low);
}

inline int64_t negate(int64_t value, int64_t input_zp, int64_t output_zp) {
  return static_cast<int64_t>(static_cast<uint64_t>(output_zp) -
                              (static_cast<uint64_t>(value) - static_cast<uint64_t>(input_zp)));
}

inline int64_t divide(int64_t a, int64_t b) {
  const int64_t divisor = wrap32(static_cast<uint64_t>(b));
  return divisor == 0 ? 0 : wrap32(static_cast<uint64_t>(wrap32(static_cast<uint64_t>(a)) / divisor));
}

inline int64_t multiply(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

// Calls f with a function that rounds an FP32 pattern to the format, and makes it a register's value.
template <class F>
inline void with_rounding(int64_t type, F f) {
  with_format(static_cast<Element>(type), [&](auto format) {
    f([](uint32_t bits) { return float_value(decltype(format)::widen(decltype(format)::narrow(one_nan(bits)))); });
  });
}

// dst = op(a, b) in FP32, then rounded to the format `type`.
template <class Op>
inline void float_map2(int64_t type, int64_t* dst, const int64_t* a, const int64_t* b, size_t n, Op op) {
  with_rounding(type, [&](auto rounded) {
    map2(dst, a, b, n,
         [=](int64_t x, int64_t y) { return rounded(as_bits(op(as_float(float_of(x)), as_float(float_of(y))))); });
  });
}

template <class Op>
inline void compare_floats(int64_t* dst, const int64_t* a, const int64_t* b, size_t n, Op op) {
  map2(dst, a, b, n, [=](int64_t x, int64_t y) -> int64_t { return op(as_float(float_of(x)), as_float(float_of(y))); });
}

inline int64_t multiply_add(int64_t a, int64_t b, int64_t c) {
  const float sum = __builtin_fmaf(as_float(float_of(a)), as_float(float_of(b)), as_float(float_of(c)));
  return float_value(one_nan(as_bits(sum)));
}

inline int64_t whole_number(int64_t value, int64_t mode) {
  const float from = as_float(float_of(value));
  const float to = mode == 0 ? __builtin_floorf(from) : mode == 1 ? __builtin_ceilf(from) : __builtin_rintf(from);
  return float_value(one_nan(as_bits(to)));
}

// An integer in FP32 with its last bit set where any bit below the upper 24 is: so the format, which has fewer bits,
// rounds as if it saw all of them.
inline uint32_t odd_float(int64_t value) {
  const int64_t number = static_cast<int32_t>(static_cast<uint32_t>(value));
  const uint64_t magnitude = static_cast<uint64_t>(number < 0 ? -number : number);
  const uint64_t odd = (magnitude & ~uint64_t{0xff}) | static_cast<uint64_t>((magnitude & 0xff) != 0) << 8;
  const auto kept = static_cast<float>(static_cast<int64_t>(magnitude < (1u << 24) ? magnitude : odd));
  return as_bits(number < 0 ? -kept : kept);
}

inline void int_to_float(int64_t type, int64_t* dst, const int64_t* a, size_t n) {
  if (static_cast<Element>(type) == Element::kF32) {
    return map1(dst, a, n, [](int64_t x) {
      return float_value(as_bits(static_cast<float>(static_cast<int32_t>(static_cast<uint32_t>(x)))));
    });
  }
  with_rounding(type, [&](auto rounded) { map1(dst, a, n, [=](int64_t x) { return rounded(odd_float(x)); }); });
}

inline int64_t float_to_int(int64_t value, double low, double high) {
  const double whole = __builtin_rint(static_cast<double>(as_float(float_of(value))));
  const double raised = whole < low ? low : whole;
  const double clipped = raised > high ? high : raised;
  return is_nan(float_of(value)) ? 0 : static_cast<int64_t>(clipped);
}

// 2^exponent as double.
inline double power_of_two(int64_t exponent) {
  return __builtin_bit_cast(double, static_cast<uint64_t>(exponent + 1023) << 52);
}

// Doubles hold a * 2^b, but where it is beyond FP32 anyway.
inline int64_t scale_float(int64_t value, int64_t by) {
  constexpr int64_t kMost = 512;
  const int64_t b = static_cast<int32_t>(static_cast<uint32_t>(by));
  const int64_t exponent = b < -kMost ? -kMost : b > kMost ? kMost : b;
  const double scaled = static_cast<double>(as_float(float_of(value))) * power_of_two(exponent);
  return float_value(one_nan(as_bits(static_cast<float>(scaled))));
}

inline int64_t exponent_of(int64_t value) {
  constexpr int64_t kZero = -256, kNoNumber = 128;
  const uint32_t magnitude = float_of(value) & ~kFloatSign;
  const auto bits = __builtin_bit_cast(uint64_t, static_cast<double>(as_float(magnitude)));
  const int64_t exponent = static_cast<int64_t>(bits >> 52) - 1023;
  return magnitude == 0 ? kZero : magnitude >= kFloatInfinity ? kNoNumber : exponent;
}

void run_float_uop(const UopBlock& block, const Uop& uop) {
  const size_t n = block.rows * block.cols;
  int64_t* dst = block.registers + uop.dst * kBlockElements;
  const int64_t* a = block.registers + uop.a * kBlockElements;
  const int64_t* b = block.registers + uop.b * kBlockElements;
  const int64_t imm0 = uop.imm0, imm1 = uop.imm1;
  switch (uop.op) {
    case UopCode::kFadd:
      return float_map2(imm0, dst, a, b, n, [](float x, float y) { return x + y; });
    case UopCode::kFsub:
      return float_map2(imm0, dst, a, b, n, [](float x, float y) { return x - y; });
    case UopCode::kFmul:
      return float_map2(imm0, dst, a, b, n, [](float x, float y) { return x * y; });
    case UopCode::kFma: {
      const int64_t* c = block.registers + static_cast<size_t>(imm0) * kBlockElements;
      NPU_INDEPENDENT
      for (size_t i = 0; i < n; ++i) dst[i] = multiply_add(a[i], b[i], c[i]);
      return;
    }
    case UopCode::kFmaImm:
      return map2(dst, a, b, n, [=](int64_t x, int64_t y) { return multiply_add(x, y, imm0); });
    case UopCode::kFaffine:
      return map1(dst, a, n, [=](int64_t x) { return multiply_add(x, imm0, imm1); });
    case UopCode::kFmax:
      return map2(dst, a, b, n, [=](int64_t x, int64_t y) {
        return float_value(better_float<true>(float_of(x), float_of(y), imm0 != 0));
      });
    case UopCode::kFmin:
      return map2(dst, a, b, n, [=](int64_t x, int64_t y) {
        return float_value(better_float<false>(float_of(x), float_of(y), imm0 != 0));
      });
    case UopCode::kFclamp:
      return map1(dst, a, n, [=, ignore = uop.b != 0](int64_t x) {
        return float_value(clamp_float(float_of(x), float_of(imm0), float_of(imm1), ignore));
      });
    case UopCode::kFabs:
      return map1(dst, a, n, [](int64_t x) { return float_value(float_of(x) & ~kFloatSign); });
    case UopCode::kFneg:
      return map1(dst, a, n, [](int64_t x) { return float_value(float_of(x) ^ kFloatSign); });
    case UopCode::kFeq:
      return compare_floats(dst, a, b, n, [](float x, float y) { return x == y; });
    case UopCode::kFgt:
      return compare_floats(dst, a, b, n, [](float x, float y) { return x > y; });
    case UopCode::kFge:
      return compare_floats(dst, a, b, n, [](float x, float y) { return x >= y; });
    case UopCode::kFround:
      return map1(dst, a, n, [=](int64_t x) { return whole_number(x, imm0); });
    case UopCode::kFcast:
      return with_rounding(imm0,
                           [&](auto rounded) { map1(dst, a, n, [=](int64_t x) { return rounded(float_of(x)); }); });
    case UopCode::kIntToFloat:
      return int_to_float(imm0, dst, a, n);
    case UopCode::kFloatToInt: {
      const int bits = static_cast<int>(8 * element_bytes(static_cast<Element>(imm0)));
      const double limit = power_of_two(bits - 1);
      return map1(dst, a, n, [=](int64_t x) { return float_to_int(x, -limit, limit - 1); });
    }
    case UopCode::kFscale:
      return map2(dst, a, b, n, [](int64_t x, int64_t y) { return scale_float(x, y); });
    case UopCode::kFexponent:
      return map1(dst, a, n, [](int64_t x) { return exponent_of(x); });
    default:
      panic(__FILE__, __LINE__, "a micro-operation of floats that is none");
  }
}

void run_uop(const UopBlock& block, size_t index) {
  const Uop& uop = block.uops[index];
  const size_t n = block.rows * block.cols;
  int64_t* dst = block.registers + uop.dst * kBlockElements;
  const int64_t* a = block.registers + uop.a * kBlockElements;
  const int64_t* b = block.registers + uop.b * kBlockElements;
  const int64_t imm0 = uop.imm0, imm1 = uop.imm1;
  using U = uint64_t;
  switch (uop.op) {
    case UopCode::kLoad:
      return load(block, uop, dst);
    case UopCode::kStore:
      return store(block, uop, a);
    case UopCode::kAdd:
      return map2(dst, a, b, n, [](int64_t x, int64_t y) { return wrap32(U(x) + U(y)); });
    case UopCode::kSub:
      return map2(dst, a, b, n, [](int64_t x, int64_t y) { return wrap32(U(x) - U(y)); });
    case UopCode::kMul: {
      const int64_t round = imm0 == 0 ? 0 : int64_t{1} << (imm0 - 1);
      return map2(dst, a, b, n, [=](int64_t x, int64_t y) {
        return wrap32(U(wrapping_add(multiply(x, wrap32(U(y))), round) >> imm0));
      });
    }
    case UopCode::kMax:
      return map2(dst, a, b, n, [](int64_t x, int64_t y) { return x > y ? x : y; });
    case UopCode::kMin:
      return map2(dst, a, b, n, [](int64_t x, int64_t y) { return x < y ? x : y; });
    case UopCode::kClamp:
      return map1(dst, a, n, [=](int64_t x) {
        x = x < imm0 ? imm0 : x;
        return x > imm1 ? imm1 : x;
      });
    case UopCode::kAbs:
      return map1(dst, a, n, [](int64_t x) { return wrap32(x < 0 ? U{0} - U(x) : U(x)); });
    case UopCode::kNegate: {
      const int64_t low = block.rescales[index].low, high = block.rescales[index].high;
      return map1(dst, a, n, [=](int64_t x) {
        const int64_t value = negate(x, imm0, imm1);
        return value < low ? low : value > high ? high : value;
      });
    }
    case UopCode::kClz:
      return map1(dst, a, n, [](int64_t x) { return count_leading_zeros(x); });
    case UopCode::kBitAnd:
      return map2(dst, a, b, n, [](int64_t x, int64_t y) { return x & y; });
    case UopCode::kBitOr:
      return map2(dst, a, b, n, [](int64_t x, int64_t y) { return x | y; });
    case UopCode::kBitXor:
      return map2(dst, a, b, n, [](int64_t x, int64_t y) { return x ^ y; });
    case UopCode::kBitNot:
      return map1(dst, a, n, [](int64_t x) { return ~x; });
    case UopCode::kShl:
      return with_wrap(static_cast<Element>(imm0), [&](auto wrap, uint64_t) {
        map2(dst, a, b, n, [=](int64_t x, int64_t y) { return wrap(U(x) << (y & 63)); });
      });
    case UopCode::kShrLogical:
      return with_wrap(static_cast<Element>(imm0), [&](auto wrap, uint64_t mask) {
        map2(dst, a, b, n, [=](int64_t x, int64_t y) { return wrap((U(x) & mask) >> (y & 63)); });
      });
    case UopCode::kShrArith:
      // Rounding half up adds the last bit that falls off.
      return map2(dst, a, b, n, [=](int64_t x, int64_t y) {
        const int64_t shift = y & 63;
        const int64_t last = shift == 0 ? 0 : (x >> (shift - 1)) & imm0;
        return (x >> shift) + last;
      });
    case UopCode::kEq:
      return map2(dst, a, b, n, [](int64_t x, int64_t y) { return static_cast<int64_t>(x == y); });
    case UopCode::kGt:
      return map2(dst, a, b, n, [](int64_t x, int64_t y) { return static_cast<int64_t>(x > y); });
    case UopCode::kGe:
      return map2(dst, a, b, n, [](int64_t x, int64_t y) { return static_cast<int64_t>(x >= y); });
    case UopCode::kSelect: {
      const int64_t* condition = block.registers + static_cast<size_t>(imm0) * kBlockElements;
      NPU_INDEPENDENT
      for (size_t i = 0; i < n; ++i) dst[i] = condition[i] != 0 ? a[i] : b[i];
      return;
    }
    case UopCode::kLogicalNot:
      return map1(dst, a, n, [](int64_t x) { return static_cast<int64_t>(x == 0); });
    case UopCode::kRescale:
      return rescale(block.rescales[index], dst, a, n);
    case UopCode::kTable8: {
      const uint8_t* table = block.tables[uop.b];
      return map1(dst, a, n, [=](int64_t x) -> int64_t { return static_cast<int8_t>(table[(U(x) + 128) & 0xff]); });
    }
    case UopCode::kTable16: {
      const uint8_t* table = block.tables[uop.b];
      return map1(dst, a, n, [=](int64_t x) { return lookup16(table, x); });
    }
    case UopCode::kTable32: {
      const uint8_t* table = block.tables[uop.b];
      return map1(dst, a, n, [=](int64_t x) -> int64_t {
        const int64_t index = x < imm0 ? 0 : x > imm0 + 255 ? 255 : x - imm0;
        return load_at<int32_t>(table, static_cast<size_t>(index));
      });
    }
    case UopCode::kCast:
      return with_wrap(static_cast<Element>(imm0),
                       [&](auto wrap, uint64_t) { map1(dst, a, n, [=](int64_t x) { return wrap(U(x)); }); });
    case UopCode::kIntdiv:
      return map2(dst, a, b, n, [](int64_t x, int64_t y) { return divide(x, y); });
    default:
      return run_float_uop(block, uop);
  }
}

void uops(const UopBlock& block) {
  for (size_t i = 0; i < block.uops.size(); ++i) run_uop(block, i);
}

}  // namespace
}  // namespace npu::engine::NPU_SIMD
