// SPDX-License-Identifier: Apache-2.0
// CLAMP, and TABLE, by which all other integer activations are written; those of real numbers are in functions.cpp.
#include <cstring>

#include "sim/reference/arithmetic.h"
#include "sim/reference/operators.h"

namespace npu::reference {
namespace {

using contract::ErrorCode;

// A limit of CLAMP: little endian, in the type of the operand; the file may pad it.
template <typename T>
T limit(const Call& call, const std::vector<uint8_t>& bytes, const char* what) {
  call.error_if(bytes.size() < sizeof(T), ErrorCode::kBadArgument, fmt::format("{} is too short for the type", what));
  T value;
  std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

}  // namespace

void clamp(Call& call) {
  Value& result = call.output();
  check_same_shape(call);
  if (result.type != call.input(0).type) {
    call.unsupported_types();
  }
  for_type<Int8, Int16, Fp32, Fp16, Bf16>(call, call.input(0).type, [&](auto type) {
    using Type = decltype(type);
    using T = typename Type::T;
    const auto low = Type::load(limit<T>(call, call.attributes().min_val, "min_val"));
    const auto high = Type::load(limit<T>(call, call.attributes().max_val, "max_val"));
    call.error_if(!(low <= high), ErrorCode::kBadArgument,
                  fmt::format("max_val {} is not at least min_val {}", high, low));
    const Extreme extreme(call);
    const auto in = elements<T>(call.input(0));
    const auto out = elements<T>(result);
    for (size_t i = 0; i < out.size(); ++i) {
      out[i] = Type::store(extreme.smaller(extreme.larger(Type::load(in[i]), low), high));
    }
  });
}

void table(Call& call) {
  Value& result = call.output();
  const Value& input = call.input(0);
  const Value& entries = call.input(1);
  check_same_shape(call);
  if (input.type == DType::kInt8 && entries.type == DType::kInt8 && result.type == DType::kInt8) {
    const auto in = elements<int8_t>(input);
    const auto lookup = elements<int8_t>(entries);
    const auto out = elements<int8_t>(result);
    call.require(lookup.size() == 256, "the table of INT8 must have 256 entries");
    for (size_t i = 0; i < out.size(); ++i) {
      out[i] = lookup[static_cast<size_t>(in[i] + 128)];
    }
  } else if (input.type == DType::kInt16 && entries.type == DType::kInt16 && result.type == DType::kInt32) {
    // The upper 9 bits choose an entry, the lower 7 interpolate to the next: 16 + 7 bits of result.
    const auto in = elements<int16_t>(input);
    const auto lookup = elements<int16_t>(entries);
    const auto out = elements<int32_t>(result);
    call.require(lookup.size() == 513, "the table of INT16 must have 513 entries");
    for (size_t i = 0; i < out.size(); ++i) {
      const auto index = static_cast<size_t>((in[i] + 32768) >> 7);
      const int32_t fraction = in[i] & 0x7f;
      const int32_t slope = in_range<Int16>(call, lookup[index + 1] - lookup[index], "the slope of the table");
      out[i] = lookup[index] * 128 + slope * fraction;
    }
  } else {
    call.unsupported_types();
  }
}

}  // namespace npu::reference
