// SPDX-License-Identifier: Apache-2.0
#include "sim/reference/element.h"

#include <fmt/format.h>

namespace npu::reference {

int64_t scalar(const Call& call, size_t input) {
  const Value& value = call.input(input);
  call.error_if(value.bytes.empty(), contract::ErrorCode::kBadShape, fmt::format("operand {} has no element", input));
  int64_t result = 0;
  for_type<Int4, Int8, Int16, Int32, Int48>(
      call, value.type, [&](auto type) { result = elements<typename decltype(type)::T>(value)[0]; });
  return result;
}

int64_t zero_point(const Call& call, size_t input, DType type) {
  const Value& value = call.input(input);
  double number = 0;
  for_type<Int4, Int8, Int16, Int32, Int48, Fp32, Fp16, Bf16, Fp8E4M3, Fp8E5M2>(call, value.type, [&](auto operand) {
    using Operand = decltype(operand);
    call.error_if(value.bytes.empty(), contract::ErrorCode::kBadShape, fmt::format("operand {} has no element", input));
    number = static_cast<double>(Operand::load(elements<typename Operand::T>(value)[0]));
  });
  call.error_if(type != DType::kInt8 && number != 0, contract::ErrorCode::kBadArgument,
                "only INT8 may have a zero point");
  return type == DType::kInt8 ? static_cast<int64_t>(number) : 0;
}

std::span<const int64_t> shape_operand(const Call& call, size_t input) {
  const Value& value = call.input(input);
  call.error_if(value.type != DType::kShape, contract::ErrorCode::kBadType,
                fmt::format("operand {} must be a shape and is {}", input, graph::name(value.type)));
  return elements<int64_t>(value);
}

void check_same_shape(const Call& call) {
  const Shape& in = call.input(0).shape;
  const Shape& out = call.output().shape;
  call.error_if(in != out, contract::ErrorCode::kBadShape,
                fmt::format("operand {} and result {} differ in shape", graph::to_string(in), graph::to_string(out)));
}

int64_t value_bytes(const graph::Tensor& tensor) {
  constexpr int64_t kLargest = int64_t{1} << 31;
  const auto count = graph::element_count(tensor.shape);
  const int64_t width = graph::machine_width(tensor.type);
  if (!count || *count > kLargest / width) {
    throw Error(contract::ErrorCode::kBudgetExceeded,
                fmt::format("tensor '{}' of {} {} is larger than the reference's limit of 2 GiB", tensor.name,
                            graph::name(tensor.type), graph::to_string(tensor.shape)));
  }
  return *count * width;
}

int64_t element_count(const Shape& shape) {
  int64_t count = 1;
  for (const int64_t size : shape) {
    count *= size;
  }
  return count;
}

Shape strides_of(const Shape& shape) {
  Shape strides(shape.size());
  int64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= shape[d];
  }
  return strides;
}

Shape broadcast_strides(const Call& call, const Shape& shape, const Shape& result) {
  const auto misfit = [&] {
    call.fail(contract::ErrorCode::kBadShape,
              fmt::format("shape {} does not broadcast to {}", graph::to_string(shape), graph::to_string(result)));
  };
  if (shape.size() != result.size()) {
    misfit();
  }
  Shape strides = strides_of(shape);
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] != result[d]) {
      if (shape[d] != 1) {
        misfit();
      }
      strides[d] = 0;
    }
  }
  return strides;
}

}  // namespace npu::reference
