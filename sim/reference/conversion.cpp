// SPDX-License-Identifier: Apache-2.0
// CAST and RESCALE.
#include <algorithm>

#include "driver/graph/operators.h"
#include "sim/reference/arithmetic.h"
#include "sim/reference/operators.h"

namespace npu::reference {
namespace {

using contract::ErrorCode;

int64_t zero_point(const Call& call, size_t input, bool is_unsigned) {
  const int64_t value = scalar(call, input);
  if (!is_unsigned) {
    return value;
  }
  return call.input(input).type == DType::kInt8 ? static_cast<uint8_t>(value) : static_cast<uint16_t>(value);
}

// int8 and uint8 may have any zero point, uint16 0 or 32768, the others none.
void check_zero_point(const Call& call, DType type, bool is_unsigned, int64_t value, const char* what) {
  const bool fits = type == DType::kInt8 || value == 0 || (type == DType::kInt16 && is_unsigned && value == 32768);
  call.error_if(
      !fits, ErrorCode::kBadArgument,
      fmt::format("{} {} is not allowed for {}{}", what, value, is_unsigned ? "unsigned " : "", graph::name(type)));
}

void check_attributes(const Call& call, DType in, DType out) {
  const graph::Attributes& a = call.attributes();
  const bool input_fits = !a.input_unsigned || (in != DType::kInt48 && in != DType::kInt32 && out != DType::kInt32);
  const bool output_fits = !a.output_unsigned || (in != DType::kInt48 && in != DType::kInt32 && out != DType::kInt32);
  call.error_if(!input_fits || !output_fits || (a.input_unsigned && a.output_unsigned), ErrorCode::kBadArgument,
                "input_unsigned and output_unsigned do not fit these types");
  call.error_if(a.scale32 && in == DType::kInt48, ErrorCode::kBadArgument, "INT48 needs scale32 = false");
  call.error_if(!a.scale32 && a.rounding_mode == graph::RoundingMode::kDoubleRound, ErrorCode::kBadArgument,
                "DOUBLE_ROUND needs scale32 = true");
}

// One value after zero point and scaling, clipped to Out's signed or unsigned range.
template <typename Out>
typename Out::T finish(const Call& call, int32_t scaled, int64_t output_zp, bool is_unsigned) {
  const int64_t result = reference::add<Int32>(call, scaled, output_zp);
  if (!is_unsigned) {
    return clip<Out>(result);
  }
  const int64_t largest = Out::kMax - Out::kMin;
  return static_cast<typename Out::T>(result < 0 ? 0 : result > largest ? largest : result);
}

template <typename In, typename Out>
void rescale_as(Call& call) {
  const graph::Attributes& a = call.attributes();
  check_attributes(call, In::kType, Out::kType);
  const int64_t input_zp = zero_point(call, 3, a.input_unsigned);
  const int64_t output_zp = zero_point(call, 4, a.output_unsigned);
  check_zero_point(call, In::kType, a.input_unsigned, input_zp, "the input zero point");
  check_zero_point(call, Out::kType, a.output_unsigned, output_zp, "the output zero point");

  const auto shift = elements<int8_t>(call.input(2));
  std::vector<int32_t> multiplier;
  for_type<Int16, Int32>(call, call.input(1).type, [&](auto type) {
    const auto values = elements<typename decltype(type)::T>(call.input(1));
    multiplier.assign(values.begin(), values.end());
    call.error_if(a.scale32 != (decltype(type)::kType == DType::kInt32), ErrorCode::kBadType,
                  "scale32 does not fit the multiplier's type");
  });
  const Shape& shape = call.input(0).shape;
  call.error_if(a.per_channel && shape.empty(), ErrorCode::kBadShape, "per_channel needs a channel");
  const size_t channels = a.per_channel ? static_cast<size_t>(shape.back()) : 1;
  call.error_if(
      multiplier.size() != channels || shift.size() != channels, ErrorCode::kBadShape,
      fmt::format("there are {} multipliers and {} shifts for {} channels", multiplier.size(), shift.size(), channels));

  const auto in = elements<typename In::T>(call.input(0));
  const auto out = elements<typename Out::T>(call.output());
  const auto scale_all = [&, input_unsigned = a.input_unsigned, output_unsigned = a.output_unsigned](auto scale) {
    constexpr int64_t kUnsigned = In::kMax - In::kMin;  // a mask of In's bits
    for (size_t start = 0; start < out.size(); start += channels) {
      for (size_t c = 0; c < channels; ++c) {
        const int64_t element = input_unsigned ? in[start + c] & kUnsigned : in[start + c];
        const int64_t value = in_range<Int48>(call, element - input_zp, "the value without its zero point");
        out[start + c] = finish<Out>(call, scale(value, multiplier[c], shift[c]), output_zp, output_unsigned);
      }
    }
  };
  // Chosen once, outside of the loop: most elements of an integer network pass through here.
  if (!a.scale32) {
    scale_all([&](int64_t value, int32_t by, int32_t right) { return scale_16(call, value, by, right); });
  } else if (a.rounding_mode == graph::RoundingMode::kDoubleRound) {
    scale_all([&](int64_t value, int32_t by, int32_t right) {
      return scale_32(call, static_cast<int32_t>(value), by, right, true);
    });
  } else {
    scale_all([&](int64_t value, int32_t by, int32_t right) {
      return scale_32(call, static_cast<int32_t>(value), by, right, false);
    });
  }
}

template <typename Body>
void for_cast_type(const Call& call, DType type, Body&& body) {
  for_type<Bool, Int8, Int16, Int32, Fp32, Fp16, Bf16, Fp8E4M3, Fp8E5M2>(call, type, body);
}

bool can_cast(DType in, DType out) {
  return std::ranges::any_of(graph::info(graph::Op::kCast).types, [&](const graph::TypeRow& row) {
    return row.types[static_cast<size_t>(graph::Slot::kIn)] == in &&
           row.types[static_cast<size_t>(graph::Slot::kOut)] == out;
  });
}

template <typename Out, typename Number>
typename Out::T cast_element(const Call& call, Number value) {
  if constexpr (Out::kType == DType::kBool) {
    return value != 0;
  } else if constexpr (std::is_same_v<Number, double> && !Out::kIsFloat) {
    call.require(value == value, "a NaN has no integer");
    return Out::store(to_integer(value, Out::kMin, Out::kMax));
  } else {
    return Out::store(value);
  }
}

}  // namespace

void rescale(Call& call) {
  check_same_shape(call);
  for_type<Int8, Int16, Int32, Int48>(call, call.input(0).type, [&](auto in) {
    for_type<Int8, Int16, Int32>(call, call.output().type,
                                 [&](auto out) { rescale_as<decltype(in), decltype(out)>(call); });
  });
}

void cast(Call& call) {
  const Value& input = call.input(0);
  Value& result = call.output();
  check_same_shape(call);
  if (!can_cast(input.type, result.type)) {
    call.unsupported_types();
  }
  for_cast_type(call, input.type, [&](auto in_type) {
    for_cast_type(call, result.type, [&](auto out_type) {
      using In = decltype(in_type);
      const auto in = elements<typename In::T>(input);
      const auto out = elements<typename decltype(out_type)::T>(result);
      for (size_t i = 0; i < out.size(); ++i) {
        out[i] = cast_element<decltype(out_type)>(call, In::load(in[i]));
      }
    });
  });
}

}  // namespace npu::reference
