// SPDX-License-Identifier: Apache-2.0
// Element by element: operators of one, two and three operands, with broadcasting.
#include "sim/reference/elementwise.h"

#include <cmath>
#include <functional>

#include "sim/reference/arithmetic.h"
#include "sim/reference/operators.h"

namespace npu::reference {
namespace {

using contract::ErrorCode;
__extension__ using Int128 = __int128;

// A NaN is neither equal to anything nor greater.
template <typename F>
void compare(Call& call, F f) {
  for_type<Int32, Fp32, Fp16, Bf16>(call, call.input(0).type,
                                    [&](auto type) { binary<decltype(type), Bool>(call, f); });
}

template <typename F>
void shift(Call& call, F f) {
  for_type<Int8, Int16, Int32>(call, call.input(0).type, [&](auto type) {
    using Type = decltype(type);
    using T = typename Type::T;
    binary<Type, Type>(call, [&](T value, T amount) {
      if (amount < 0 || amount >= Type::kWidth) [[unlikely]] {
        call.fail(ErrorCode::kRequireFailed, fmt::format("the shift {} is outside 0..{}", amount, Type::kWidth - 1));
      }
      return f(value, amount);
    });
  });
}

}  // namespace

void add(Call& call) {
  for_type<Int32, Fp32, Fp16, Bf16>(call, call.input(0).type, [&](auto type) {
    using Type = decltype(type);
    binary<Type, Type>(call, [&](auto a, auto b) { return reference::add<Type>(call, a, b); });
  });
}

void sub(Call& call) {
  if (call.input(0).type == DType::kInt32) {
    binary<Int32, Int32>(call, [&](int64_t a, int64_t b) { return in_range<Int32>(call, a - b, "the difference"); });
  } else {
    binary_of<Fp32, Fp16, Bf16>(call, std::minus<>());
  }
}

void mul(Call& call) {
  const int64_t shift = call.input_count() > 2 ? scalar(call, 2) : 0;
  const DType type = call.input(0).type;
  call.require(0 <= shift && shift <= 63, "the shift is outside 0..63");
  call.require(type == DType::kInt32 || shift == 0, "only INT32 may shift");
  if (shift > 0) {
    const auto shifted = [&](int64_t a, int64_t b) {
      // 128 bits: for a shift of 63, product and rounding term together need 64.
      const Int128 product = Int128{a * b} + (int64_t{1} << (shift - 1));
      return in_range<Int32>(call, static_cast<int64_t>(product >> shift), "the shifted product");
    };
    binary<Int32, Int32>(call, shifted);
    return;
  }
  if (type == DType::kFp32 || type == DType::kFp16 || type == DType::kBf16) {
    binary_of<Fp32, Fp16, Bf16>(call, std::multiplies<>());
    return;
  }
  for_type<Int8, Int16, Int32>(call, type, [&](auto in) {
    // INT32 keeps the low 32 bits.
    binary<decltype(in), Int32>(call, [](int64_t a, int64_t b) { return static_cast<int32_t>(a * b); });
  });
}

void int_div(Call& call) {
  binary_of<Int32>(call, [&](int64_t a, int64_t b) {
    call.require(b != 0, "division by zero");
    return in_range<Int32>(call, a / b, "the quotient");
  });
}

void maximum(Call& call) {
  binary_of<Int32, Fp32, Fp16, Bf16>(call, [extreme = Extreme(call)](auto a, auto b) { return extreme.larger(a, b); });
}

void minimum(Call& call) {
  binary_of<Int32, Fp32, Fp16, Bf16>(call, [extreme = Extreme(call)](auto a, auto b) { return extreme.smaller(a, b); });
}

void arithmetic_right_shift(Call& call) {
  const bool round = call.attributes().round;
  shift(call, [round](int32_t value, int32_t amount) {
    const int32_t last_bit_out = round && amount > 0 ? (value >> (amount - 1)) & 1 : 0;
    return (value >> amount) + last_bit_out;
  });
}

void logical_left_shift(Call& call) {
  shift(call, [](auto value, auto amount) { return static_cast<uint32_t>(value) << amount; });
}

void logical_right_shift(Call& call) {
  shift(call, [](auto value, auto amount) {
    return static_cast<uint32_t>(static_cast<std::make_unsigned_t<decltype(value)>>(value)) >> amount;
  });
}

void bitwise_and(Call& call) {
  binary_of<Int8, Int16, Int32>(call, [](auto a, auto b) { return a & b; });
}

void bitwise_or(Call& call) {
  binary_of<Int8, Int16, Int32>(call, [](auto a, auto b) { return a | b; });
}

void bitwise_xor(Call& call) {
  binary_of<Int8, Int16, Int32>(call, [](auto a, auto b) { return a ^ b; });
}

void logical_and(Call& call) {
  binary_of<Bool>(call, [](bool a, bool b) { return a && b; });
}

void logical_or(Call& call) {
  binary_of<Bool>(call, [](bool a, bool b) { return a || b; });
}

void logical_xor(Call& call) {
  binary_of<Bool>(call, [](bool a, bool b) { return a != b; });
}

void equal(Call& call) { compare(call, std::equal_to<>()); }

void greater(Call& call) { compare(call, std::greater<>()); }

void greater_equal(Call& call) { compare(call, std::greater_equal<>()); }

void abs(Call& call) {
  for_type<Int32, Fp32, Fp16, Bf16>(call, call.input(0).type, [&](auto type) {
    using Type = decltype(type);
    if constexpr (Type::kIsFloat) {
      unary<Type, Type>(call, [](double a) { return std::fabs(a); });
    } else {
      unary<Type, Type>(call, [&](int64_t a) { return in_range<Type>(call, a < 0 ? -a : a, "the magnitude"); });
    }
  });
}

void negate(Call& call) {
  for_type<Int8, Int16, Int32, Fp32, Fp16, Bf16>(call, call.input(0).type, [&](auto type) {
    using Type = decltype(type);
    const int64_t input_zp = zero_point(call, 1, Type::kType);
    const int64_t output_zp = zero_point(call, 2, Type::kType);
    if constexpr (Type::kIsFloat) {
      unary<Type, Type>(call, std::negate<>());
    } else {
      unary<Type, Type>(call, [&](int64_t a) {
        const int64_t negated = in_range<Int32>(call, -(a - input_zp), "the negated value");
        return clip<Type>(reference::add<Int32>(call, negated, output_zp));
      });
    }
  });
}

void bitwise_not(Call& call) {
  for_type<Int8, Int16, Int32>(call, call.input(0).type, [&](auto type) {
    unary<decltype(type), decltype(type)>(call, [](auto a) { return ~a; });
  });
}

void logical_not(Call& call) {
  for_type<Bool>(call, call.input(0).type, [&](auto) { unary<Bool, Bool>(call, [](bool a) { return !a; }); });
}

void clz(Call& call) {
  for_type<Int32>(call, call.input(0).type, [&](auto) { unary<Int32, Int32>(call, count_leading_zeros); });
}

void select(Call& call) {
  Value& result = call.output();
  if (call.input(0).type != DType::kBool || call.input(1).type != result.type || call.input(2).type != result.type) {
    call.unsupported_types();
  }
  for_type<Bool, Int8, Int16, Int32, Fp32, Fp16, Bf16>(call, result.type, [&](auto type) {
    using T = typename decltype(type)::T;
    const auto condition = elements<uint8_t>(call.input(0));
    const auto a = elements<T>(call.input(1));
    const auto b = elements<T>(call.input(2));
    const auto out = elements<T>(result);
    for_each_element<3>(
        result.shape,
        {broadcast_strides(call, call.input(0).shape, result.shape),
         broadcast_strides(call, call.input(1).shape, result.shape),
         broadcast_strides(call, call.input(2).shape, result.shape)},
        [&](int64_t i, const std::array<int64_t, 3>& at) { out[i] = condition[at[0]] != 0 ? a[at[1]] : b[at[2]]; });
  });
}

}  // namespace npu::reference
