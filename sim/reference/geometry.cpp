// SPDX-License-Identifier: Apache-2.0
#include "sim/reference/geometry.h"

#include <fmt/format.h>

namespace npu::reference {

using contract::ErrorCode;

Convolution convolution_of(const Call& call) {
  const graph::Attributes& a = call.attributes();
  const Shape& in = call.input(0).shape;
  const Shape& weight = call.input(1).shape;
  const Shape& out = call.output().shape;
  const size_t dimensions = call.op().op == graph::Op::kConv3d ? 3 : 2;
  call.error_if(in.size() != dimensions + 2 || weight.size() != in.size() || out.size() != in.size(),
                ErrorCode::kBadShape, fmt::format("operand, weight and result must have rank {}", dimensions + 2));
  call.error_if(a.pad.size() != 2 * dimensions || a.stride.size() != dimensions || a.dilation.size() != dimensions,
                ErrorCode::kBadArgument, "pad, stride or dilation have the wrong length");
  Convolution g;
  g.n = in.front();
  g.ic = in.back();
  g.oc = out.back();
  g.in[0] = g.kernel[0] = g.out[0] = g.stride[0] = g.dilation[0] = 1;
  for (size_t d = 0; d < dimensions; ++d) {
    const size_t to = d + 3 - dimensions;
    g.in[to] = in[d + 1];
    g.kernel[to] = weight[d + 1];
    g.out[to] = out[d + 1];
    g.stride[to] = a.stride[d];
    g.pad[to] = a.pad[2 * d];
    g.dilation[to] = a.dilation[d];
  }
  call.error_if(weight.front() != g.oc || weight.back() != g.ic || out.front() != g.n, ErrorCode::kBadShape,
                fmt::format("operand {}, weight {} and result {} do not fit together", graph::to_string(in),
                            graph::to_string(weight), graph::to_string(out)));
  return g;
}

Depthwise depthwise_of(const Call& call) {
  const graph::Attributes& a = call.attributes();
  const Shape& in = call.input(0).shape;
  const Shape& weight = call.input(1).shape;
  const Shape& out = call.output().shape;
  call.error_if(in.size() != 4 || weight.size() != 4 || out.size() != 4, ErrorCode::kBadShape,
                "operand, weight and result must have rank 4");
  call.error_if(a.pad.size() != 4 || a.stride.size() != 2 || a.dilation.size() != 2, ErrorCode::kBadArgument,
                "pad, stride or dilation have the wrong length");
  call.error_if(in[3] != weight[2] || out[3] != weight[2] * weight[3] || in[0] != out[0], ErrorCode::kBadShape,
                fmt::format("operand {}, weight {} and result {} do not fit together", graph::to_string(in),
                            graph::to_string(weight), graph::to_string(out)));
  return {.n = in[0],
          .ih = in[1],
          .iw = in[2],
          .c = in[3],
          .m = weight[3],
          .kh = weight[0],
          .kw = weight[1],
          .oh = out[1],
          .ow = out[2],
          .stride_y = a.stride[0],
          .stride_x = a.stride[1],
          .pad_top = a.pad[0],
          .pad_left = a.pad[2],
          .dilation_y = a.dilation[0],
          .dilation_x = a.dilation[1]};
}

MatMul matmul_of(const Call& call) {
  const Shape& a = call.input(0).shape;
  const Shape& b = call.input(1).shape;
  const Shape& out = call.output().shape;
  const bool fits = a.size() == 3 && b.size() == 3 && a[0] == b[0] && a[2] == b[1] && out == Shape{a[0], a[1], b[2]};
  call.error_if(!fits, ErrorCode::kBadShape,
                fmt::format("operands {} and {} and result {} do not fit together", graph::to_string(a),
                            graph::to_string(b), graph::to_string(out)));
  return {a[0], a[1], a[2], b[2]};
}

ZeroPoints zero_points_of(const Call& call, DType a, DType b, size_t first) {
  return {zero_point(call, first, a), zero_point(call, first + 1, b)};
}

int64_t bias_step(const Call& call, int64_t channels) {
  const int64_t count = element_count(call.input(2).shape);
  call.error_if(count != channels && count != 1, ErrorCode::kBadShape,
                fmt::format("there are {} biases for {} channels", count, channels));
  return count == 1 ? 0 : 1;
}

}  // namespace npu::reference
