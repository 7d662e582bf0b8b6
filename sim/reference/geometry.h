// SPDX-License-Identifier: Apache-2.0
// The sizes of a convolution or matrix product, taken from its operands and checked once for the plain and the fast
// version.
#pragma once

#include <array>
#include <type_traits>

#include "sim/reference/element.h"

namespace npu::reference {

// CONV3D; CONV2D is one of depth 1. Index 0 is depth, 1 is y, 2 is x.
struct Convolution {
  int64_t n = 0, ic = 0, oc = 0;
  std::array<int64_t, 3> in{}, kernel{}, out{}, stride{}, pad{}, dilation{};
  [[nodiscard]] int64_t taps() const { return kernel[0] * kernel[1] * kernel[2] * ic; }
};
// Source: CONV2D, CONV3D.
[[nodiscard]] Convolution convolution_of(const Call& call);

struct Depthwise {
  int64_t n = 0, ih = 0, iw = 0, c = 0, m = 0, kh = 0, kw = 0, oh = 0, ow = 0;
  int64_t stride_y = 0, stride_x = 0, pad_top = 0, pad_left = 0, dilation_y = 0, dilation_x = 0;
};
// Source: DEPTHWISE_CONV2D.
[[nodiscard]] Depthwise depthwise_of(const Call& call);

struct MatMul {
  int64_t n = 0, h = 0, c = 0, w = 0;
};
// Source: MATMUL.
[[nodiscard]] MatMul matmul_of(const Call& call);

// The zero points of operands `first` and `first` + 1; only INT8 operands may have one.
struct ZeroPoints {
  int64_t a = 0, b = 0;
};
[[nodiscard]] ZeroPoints zero_points_of(const Call& call, DType a, DType b, size_t first);

// How far apart the biases of neighbouring channels are: 1, or 0 when one bias serves all.
[[nodiscard]] int64_t bias_step(const Call& call, int64_t channels);

// Calls body(In{}, Weight{}, Out{}) with the integer types of a convolution; false when the types are others.
template <typename Body>
bool for_integer_convolution(const Call& call, Body&& body) {
  const DType in = call.input(0).type;
  const DType weight = call.input(1).type;
  const DType out = call.output().type;
  if (call.input(2).type != out) {
    call.unsupported_types();
  }
  if (in == DType::kInt8 && weight == DType::kInt8 && out == DType::kInt32) {
    body(Int8{}, Int8{}, Int32{});
  } else if (in == DType::kInt8 && weight == DType::kInt4 && out == DType::kInt32) {
    body(Int8{}, Int4{}, Int32{});
  } else if (in == DType::kInt16 && weight == DType::kInt8 && out == DType::kInt48) {
    body(Int16{}, Int8{}, Int48{});
  } else {
    return false;
  }
  return true;
}

// The same with all types of a convolution.
template <typename Body>
void for_convolution_types(const Call& call, Body&& body) {
  const DType out = call.output().type;
  if (for_integer_convolution(call, body)) {
    return;
  }
  if (call.input(1).type != call.input(0).type) {
    call.unsupported_types();
  }
  for_type<Fp32, Fp16, Bf16, Fp8E4M3, Fp8E5M2>(call, call.input(0).type, [&](auto type) {
    using In = decltype(type);
    using Out = std::conditional_t<sizeof(typename In::T) == 1, Fp16, In>;
    if (out != Out::kType) {
      call.unsupported_types();
    }
    body(In{}, In{}, Out{});
  });
}

// Calls body(In{}, Out{}) with the integer types of MATMUL; false when the types are others.
template <typename Body>
bool for_integer_matmul(const Call& call, Body&& body) {
  const DType in = call.input(0).type;
  const DType out = call.output().type;
  if (in == DType::kInt8 && call.input(1).type == in && out == DType::kInt32) {
    body(Int8{}, Int32{});
  } else if (in == DType::kInt16 && call.input(1).type == in && out == DType::kInt48) {
    body(Int16{}, Int48{});
  } else {
    return false;
  }
  return true;
}

// The same with all types of MATMUL.
template <typename Body>
void for_matmul_types(const Call& call, Body&& body) {
  const DType in = call.input(0).type;
  const DType out = call.output().type;
  if (for_integer_matmul(call, body)) {
    return;
  }
  if (call.input(1).type != in) {
    call.unsupported_types();
  }
  for_type<Fp32, Fp16, Bf16, Fp8E4M3, Fp8E5M2>(call, in, [&](auto type) {
    const bool halves = in == DType::kFp16 || in == DType::kFp8E4M3 || in == DType::kFp8E5M2;
    if (halves && out == DType::kFp16) {
      body(type, Fp16{});
    } else if (out == DType::kFp32 && (!halves || in == DType::kFp16)) {
      body(type, Fp32{});
    } else {
      call.unsupported_types();
    }
  });
}

}  // namespace npu::reference
