// SPDX-License-Identifier: Apache-2.0
// CONV2D, CONV3D, DEPTHWISE_CONV2D and TRANSPOSE_CONV2D, plain: each product is added to an accumulator, whose
// range is checked for integers.
#include <algorithm>

#include "sim/reference/arithmetic.h"
#include "sim/reference/fast.h"
#include "sim/reference/geometry.h"
#include "sim/reference/operators.h"
#include "sim/reference/plain.h"

namespace npu::reference {
namespace {

using contract::ErrorCode;

// Typed operands of a convolution.
template <typename In, typename Weight, typename Out>
struct Operands {
  using Wide = typename Out::Wide;
  decltype(wide_elements<In>(Value())) in;
  decltype(wide_elements<Weight>(Value())) weight;
  std::span<const typename Out::T> biases;
  Wide input_zp, weight_zp;
  int64_t bias_step;
  std::span<typename Out::T> out;

  Operands(const Call& call, int64_t channels)
      : in(wide_elements<In>(call.input(0))),
        weight(wide_elements<Weight>(call.input(1))),
        biases(elements<typename Out::T>(call.input(2))),
        bias_step(reference::bias_step(call, channels)),
        out(elements<typename Out::T>(call.output())) {
    const ZeroPoints zero = zero_points_of(call, In::kType, Weight::kType, 3);
    input_zp = static_cast<Wide>(zero.a);
    weight_zp = static_cast<Wide>(zero.b);
  }

  [[nodiscard]] Wide product(int64_t in_at, int64_t weight_at) const {
    return (in[in_at] - input_zp) * (weight[weight_at] - weight_zp);
  }
  void finish(const Call& call, int64_t at, Wide sum, int64_t channel) const {
    out[at] = Out::store(reference::add<Out>(call, sum, Out::load(biases[channel * bias_step])));
  }
};

bool inside(int64_t value, int64_t size) { return 0 <= value && value < size; }

// TRANSPOSE_CONV2D spreads `size` elements `stride` apart. The first kernel position that brings one of them onto the
// result `at`; the others follow, `stride` apart, up to `at`.
int64_t first_position(int64_t at, int64_t size, int64_t stride) {
  return at < 0 ? 0 : std::max(at % stride, at - (size - 1) * stride);
}

}  // namespace

void plain::convolution(Call& call) {
  for_convolution_types(call, [&](auto in_type, auto weight_type, auto out_type) {
    using Out = decltype(out_type);
    const Convolution g = convolution_of(call);
    const Operands<decltype(in_type), decltype(weight_type), Out> operands(call, g.oc);
    int64_t at = 0;
    const auto result_element = [&](int64_t n, int64_t id, int64_t iy, int64_t ix, int64_t oc) {
      typename Out::Wide sum = 0;
      for (int64_t kd = 0; kd < g.kernel[0]; ++kd) {
        for (int64_t ky = 0; ky < g.kernel[1]; ++ky) {
          for (int64_t kx = 0; kx < g.kernel[2]; ++kx) {
            const int64_t d = id + kd * g.dilation[0];
            const int64_t y = iy + ky * g.dilation[1];
            const int64_t x = ix + kx * g.dilation[2];
            if (!inside(d, g.in[0]) || !inside(y, g.in[1]) || !inside(x, g.in[2])) {
              continue;  // padding is the zero point: it adds nothing
            }
            const int64_t pixel = (((n * g.in[0] + d) * g.in[1] + y) * g.in[2] + x) * g.ic;
            const int64_t tap = (((oc * g.kernel[0] + kd) * g.kernel[1] + ky) * g.kernel[2] + kx) * g.ic;
            for (int64_t ic = 0; ic < g.ic; ++ic) {
              sum = reference::add<Out>(call, sum, operands.product(pixel + ic, tap + ic));
            }
          }
        }
      }
      return sum;
    };
    for (int64_t n = 0; n < g.n; ++n) {
      for (int64_t od = 0; od < g.out[0]; ++od) {
        for (int64_t oy = 0; oy < g.out[1]; ++oy) {
          for (int64_t ox = 0; ox < g.out[2]; ++ox) {
            for (int64_t oc = 0; oc < g.oc; ++oc) {
              const auto sum = result_element(n, od * g.stride[0] - g.pad[0], oy * g.stride[1] - g.pad[1],
                                              ox * g.stride[2] - g.pad[2], oc);
              operands.finish(call, at++, sum, oc);
            }
          }
        }
      }
    }
  });
}

void plain::depthwise_conv2d(Call& call) {
  for_convolution_types(call, [&](auto in_type, auto weight_type, auto out_type) {
    using Out = decltype(out_type);
    const Depthwise g = depthwise_of(call);
    const Operands<decltype(in_type), decltype(weight_type), Out> operands(call, g.c * g.m);
    int64_t at = 0;
    const auto result_element = [&](int64_t n, int64_t iy, int64_t ix, int64_t c, int64_t m) {
      typename Out::Wide sum = 0;
      for (int64_t ky = 0; ky < g.kh; ++ky) {
        for (int64_t kx = 0; kx < g.kw; ++kx) {
          const int64_t y = iy + ky * g.dilation_y;
          const int64_t x = ix + kx * g.dilation_x;
          if (inside(y, g.ih) && inside(x, g.iw)) {
            sum = reference::add<Out>(
                call, sum,
                operands.product(((n * g.ih + y) * g.iw + x) * g.c + c, ((ky * g.kw + kx) * g.c + c) * g.m + m));
          }
        }
      }
      return sum;
    };
    for (int64_t n = 0; n < g.n; ++n) {
      for (int64_t oy = 0; oy < g.oh; ++oy) {
        for (int64_t ox = 0; ox < g.ow; ++ox) {
          for (int64_t c = 0; c < g.c; ++c) {
            for (int64_t m = 0; m < g.m; ++m) {
              const auto sum = result_element(n, oy * g.stride_y - g.pad_top, ox * g.stride_x - g.pad_left, c, m);
              operands.finish(call, at++, sum, c * g.m + m);
            }
          }
        }
      }
    }
  });
}

void transpose_conv2d(Call& call) {
  for_convolution_types(call, [&](auto in_type, auto weight_type, auto out_type) {
    using Out = decltype(out_type);
    const graph::Attributes& a = call.attributes();
    const Shape& in = call.input(0).shape;
    const Shape& weight = call.input(1).shape;
    const Shape& out = call.output().shape;
    call.error_if(
        in.size() != 4 || weight.size() != 4 || out.size() != 4 || a.out_pad.size() != 4 || a.stride.size() != 2,
        ErrorCode::kBadShape, "operand, weight and result must have rank 4, out_pad 4 values and stride 2");
    call.error_if(weight[0] != out[3] || weight[3] != in[3] || in[0] != out[0], ErrorCode::kBadShape,
                  fmt::format("operand {}, weight {} and result {} do not fit together", graph::to_string(in),
                              graph::to_string(weight), graph::to_string(out)));
    const int64_t stride_y = a.stride[0], stride_x = a.stride[1];
    call.error_if(stride_y < 1 || stride_x < 1, ErrorCode::kBadArgument, "stride must be positive");
    const Operands<decltype(in_type), decltype(weight_type), Out> operands(call, out[3]);
    int64_t at = 0;
    // The result (iy, ix) gathers the operand's elements that a kernel position brings onto it.
    const auto result_element = [&](int64_t n, int64_t iy, int64_t ix, int64_t oc) {
      typename Out::Wide sum = 0;
      for (int64_t ky = first_position(iy, in[1], stride_y); ky <= std::min(iy, weight[1] - 1); ky += stride_y) {
        for (int64_t kx = first_position(ix, in[2], stride_x); kx <= std::min(ix, weight[2] - 1); kx += stride_x) {
          const int64_t y = (iy - ky) / stride_y;
          const int64_t x = (ix - kx) / stride_x;
          const int64_t pixel = ((n * in[1] + y) * in[2] + x) * in[3];
          const int64_t tap = ((oc * weight[1] + ky) * weight[2] + kx) * in[3];
          for (int64_t ic = 0; ic < in[3]; ++ic) {
            sum = reference::add<Out>(call, sum, operands.product(pixel + ic, tap + ic));
          }
        }
      }
      return sum;
    };
    for (int64_t n = 0; n < out[0]; ++n) {
      for (int64_t oy = 0; oy < out[1]; ++oy) {
        for (int64_t ox = 0; ox < out[2]; ++ox) {
          for (int64_t oc = 0; oc < out[3]; ++oc) {
            const auto sum = result_element(n, oy - a.out_pad[0], ox - a.out_pad[2], oc);
            operands.finish(call, at++, sum, oc);
          }
        }
      }
    }
  });
}

void conv2d(Call& call) {
  if (!fast::convolution(call)) {
    plain::convolution(call);
  }
}

void conv3d(Call& call) { conv2d(call); }

void depthwise_conv2d(Call& call) {
  if (!fast::depthwise_conv2d(call)) {
    plain::depthwise_conv2d(call);
  }
}

}  // namespace npu::reference
