// Elements of values as C++ numbers: the integer types, typed access, and a loop over a shape with broadcasting.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>

#include "driver/graph/value.h"
#include "sim/reference/call.h"

namespace npu::reference {

using graph::DType;
using graph::Shape;
using graph::Value;

// An integer type of the specification: T holds one machine element, kMin and kMax are its signed limits.
template <DType kDType, typename Machine, int kBits>
struct Integer {
  using T = Machine;
  static constexpr DType kType = kDType;
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
  static constexpr DType kType = DType::kBool;
};

template <typename T>
std::span<const T> elements(const Value& value) {
  return {reinterpret_cast<const T*>(value.bytes.data()), value.bytes.size() / sizeof(T)};
}
template <typename T>
std::span<T> elements(Value& value) {
  return {reinterpret_cast<T*>(value.bytes.data()), value.bytes.size() / sizeof(T)};
}

// Calls body(Type{}) with the one of Types that `type` names; any other type is unsupported.
template <typename... Types, typename Body>
void for_type(const Call& call, DType type, Body&& body) {
  const bool found = ((type == Types::kType && (body(Types{}), true)) || ...);
  if (!found) {
    call.unsupported_types();
  }
}

// An operand of one element (zero point, shift, padding value), sign extended; its type is one of the integers.
[[nodiscard]] int64_t scalar(const Call& call, size_t input);
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
