// SPDX-License-Identifier: Apache-2.0
// Elements of values as C++ numbers: the types, typed access, and a loop over a shape with broadcasting.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "driver/graph/float_format.h"
#include "driver/graph/value.h"
#include "sim/reference/call.h"

namespace npu::reference {

using graph::DType;
using graph::FloatFormat;
using graph::Shape;
using graph::to_integer;
using graph::Value;

// Each type has T, which holds one machine element, and Wide, in which operators compute: load() makes the one into the
// other, store() the other into the one.

// An integer type of the specification: kMin and kMax are its signed limits. Results fit or are to be cut.
template <DType kDType, typename Machine, int kBits>
struct Integer {
  using T = Machine;
  using Wide = int64_t;
  static constexpr DType kType = kDType;
  static constexpr bool kIsFloat = false;
  static T load(T element) { return element; }
  static T store(auto value) { return static_cast<T>(value); }
  static constexpr int64_t kMin = -(int64_t{1} << (kBits - 1));
  static constexpr int64_t kMax = (int64_t{1} << (kBits - 1)) - 1;
  static constexpr int kWidth = kBits;
};
using Int4 = Integer<DType::kInt4, int8_t, 4>;
using Int8 = Integer<DType::kInt8, int8_t, 8>;
using Int16 = Integer<DType::kInt16, int16_t, 16>;
using Int32 = Integer<DType::kInt32, int32_t, 32>;
using Int48 = Integer<DType::kInt48, int64_t, 48>;
struct Bool {
  using T = uint8_t;
  using Wide = bool;
  static constexpr DType kType = DType::kBool;
  static constexpr bool kIsFloat = false;
  static T load(T element) { return element; }
  static T store(auto value) { return static_cast<T>(value); }
};

// A floating-point type. Operators compute in double, which is exact enough for every bound of the specification, and
// round once, to nearest even.
template <DType kDType, typename Machine, FloatFormat kFormat>
struct Float {
  using T = Machine;
  using Wide = double;
  static constexpr DType kType = kDType;
  static constexpr bool kIsFloat = true;
  static double load(T element) {
    if constexpr (std::is_same_v<T, float>) {
      return element;
    } else {
      return decode(kFormat, element);
    }
  }
  static T store(double value) {
    if constexpr (std::is_same_v<T, float>) {
      return static_cast<float>(value);
    } else {
      return static_cast<T>(encode(kFormat, value));
    }
  }
};
using Fp32 = Float<DType::kFp32, float, graph::kFp32Format>;
using Fp16 = Float<DType::kFp16, uint16_t, graph::kFp16Format>;
using Bf16 = Float<DType::kBf16, uint16_t, graph::kBf16Format>;
using Fp8E4M3 = Float<DType::kFp8E4M3, uint8_t, graph::kFp8E4M3Format>;
using Fp8E5M2 = Float<DType::kFp8E5M2, uint8_t, graph::kFp8E5M2Format>;

template <typename T>
std::span<const T> elements(const Value& value) {
  return {reinterpret_cast<const T*>(value.bytes.data()), value.bytes.size() / sizeof(T)};
}
template <typename T>
std::span<T> elements(Value& value) {
  return {reinterpret_cast<T*>(value.bytes.data()), value.bytes.size() / sizeof(T)};
}

// The elements as operators compute with them: as they are, or as double where they would be decoded again and again.
template <typename Type>
auto wide_elements(const Value& value) {
  const auto in = elements<typename Type::T>(value);
  if constexpr (Type::kIsFloat) {
    std::vector<double> wide(in.size());
    for (size_t i = 0; i < in.size(); ++i) {
      wide[i] = Type::load(in[i]);
    }
    return wide;
  } else {
    return in;
  }
}

// Calls body(Type{}) with the one of Types that `type` names; any other type is unsupported.
template <typename... Types, typename Body>
void for_type(const Call& call, DType type, Body&& body) {
  const bool found = ((type == Types::kType && (body(Types{}), true)) || ...);
  if (!found) {
    call.unsupported_types();
  }
}

// An operand of one element (zero point, shift), sign extended; its type is one of the integers.
[[nodiscard]] int64_t scalar(const Call& call, size_t input);
// The zero point of elements of `type`, of which only INT8 has one other than 0.
[[nodiscard]] int64_t zero_point(const Call& call, size_t input, DType type);
// A shape operand.
[[nodiscard]] std::span<const int64_t> shape_operand(const Call& call, size_t input);

// The operand that an element-wise operator reads must have its result's shape.
void check_same_shape(const Call& call);
// Bytes of a tensor's machine elements; throws budget_exceeded above 2 GiB.
[[nodiscard]] int64_t value_bytes(const graph::Tensor& tensor);

[[nodiscard]] int64_t element_count(const Shape& shape);
// Distance in elements between neighbours along each dimension, C order.
[[nodiscard]] Shape strides_of(const Shape& shape);
// The same with 0 where the operand's dimension is 1 and the result's is not. Throws when the shapes do not fit.
[[nodiscard]] Shape broadcast_strides(const Call& call, const Shape& shape, const Shape& result);

// Calls body(element of the result, {element of each operand}) for all elements of `result`, in C order.
template <size_t kOperands, typename Body>
void for_each_element(const Shape& result, const std::array<Shape, kOperands>& strides, Body&& body) {
  const size_t rank = result.size();
  const int64_t total = element_count(result);
  const int64_t inner = rank == 0 ? 1 : result[rank - 1];
  std::array<int64_t, kOperands> step{};
  for (size_t k = 0; k < kOperands; ++k) {
    step[k] = rank == 0 ? 0 : strides[k][rank - 1];
  }
  Shape index(rank, 0);
  for (int64_t start = 0; start < total; start += inner) {
    std::array<int64_t, kOperands> at{};
    for (size_t k = 0; k < kOperands; ++k) {
      for (size_t d = 0; d + 1 < rank; ++d) {
        at[k] += index[d] * strides[k][d];
      }
    }
    for (int64_t i = 0; i < inner; ++i) {
      body(start + i, at);
      for (size_t k = 0; k < kOperands; ++k) {
        at[k] += step[k];
      }
    }
    for (size_t d = rank - (rank > 0 ? 1 : 0); d-- > 0;) {
      if (++index[d] < result[d]) {
        break;
      }
      index[d] = 0;
    }
  }
}

}  // namespace npu::reference
