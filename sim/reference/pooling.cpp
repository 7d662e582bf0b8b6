// SPDX-License-Identifier: Apache-2.0
// AVG_POOL2D and MAX_POOL2D.
#include <algorithm>

#include "sim/reference/arithmetic.h"
#include "sim/reference/operators.h"

namespace npu::reference {
namespace {

using contract::ErrorCode;

// Operand [n, ih, iw, c], result [n, oh, ow, c], and the window.
struct Pool {
  int64_t n, ih, iw, c, oh, ow;
  int64_t kernel_y, kernel_x, stride_y, stride_x, pad_top, pad_left;
};

Pool pool_of(const Call& call) {
  const graph::Attributes& a = call.attributes();
  const Shape& in = call.input(0).shape;
  const Shape& out = call.output().shape;
  call.error_if(in.size() != 4 || out.size() != 4 || in[0] != out[0] || in[3] != out[3], ErrorCode::kBadShape,
                "operand and result must be NHWC with equal N and C");
  if (call.output().type != call.input(0).type) {
    call.unsupported_types();
  }
  call.error_if(a.kernel.size() != 2 || a.stride.size() != 2 || a.pad.size() != 4, ErrorCode::kBadArgument,
                "kernel and stride need 2 values, pad 4");
  return {in[0],       in[1],       in[2],       in[3],       out[1],   out[2],
          a.kernel[0], a.kernel[1], a.stride[0], a.stride[1], a.pad[0], a.pad[2]};
}

// Calls body(result element, operand's element of the same channel...) as window(first, last) in both directions.
template <typename Body>
void for_each_window(const Pool& p, Body&& body) {
  for (int64_t n = 0; n < p.n; ++n) {
    for (int64_t oy = 0; oy < p.oh; ++oy) {
      for (int64_t ox = 0; ox < p.ow; ++ox) {
        const int64_t iy = oy * p.stride_y - p.pad_top;
        const int64_t ix = ox * p.stride_x - p.pad_left;
        const int64_t y0 = std::max<int64_t>(iy, 0), y1 = std::min(iy + p.kernel_y, p.ih);
        const int64_t x0 = std::max<int64_t>(ix, 0), x1 = std::min(ix + p.kernel_x, p.iw);
        for (int64_t c = 0; c < p.c; ++c) {
          body(((n * p.oh + oy) * p.ow + ox) * p.c + c, [&](auto&& element) {
            for (int64_t y = y0; y < y1; ++y) {
              for (int64_t x = x0; x < x1; ++x) {
                element(((n * p.ih + y) * p.iw + x) * p.c + c);
              }
            }
          });
        }
      }
    }
  }
}

}  // namespace

void avg_pool2d(Call& call) {
  for_type<Int8, Int16, Fp32, Fp16, Bf16, Fp8E4M3, Fp8E5M2>(call, call.input(0).type, [&](auto type) {
    using Type = decltype(type);
    using Accumulator = std::conditional_t<Type::kIsFloat, Fp32, Int32>;
    using Wide = typename Accumulator::Wide;
    const Pool pool = pool_of(call);
    const auto in = elements<typename Type::T>(call.input(0));
    const auto out = elements<typename Type::T>(call.output());
    const int64_t input_zp = zero_point(call, 1, Type::kType);
    [[maybe_unused]] const int64_t output_zp = zero_point(call, 2, Type::kType);
    for_each_window(pool, [&](int64_t at, auto&& window) {
      Wide sum = 0;
      uint32_t count = 0;  // padding does not count
      window([&](int64_t i) {
        sum = reference::add<Accumulator>(call, sum, Type::load(in[i]) - static_cast<Wide>(input_zp));
        ++count;
      });
      call.require(count > 0, "a window covers nothing but padding");
      if constexpr (Type::kIsFloat) {
        out[at] = Type::store(sum / count);
      } else {
        const Scale scale = reciprocal_scale(count);
        const int32_t mean = scale_32(call, static_cast<int32_t>(sum), scale.multiplier, scale.shift, false);
        out[at] = clip<Type>(reference::add<Int32>(call, mean, output_zp));
      }
    });
  });
}

void max_pool2d(Call& call) {
  for_type<Int8, Int16, Fp32, Fp16, Bf16, Fp8E4M3, Fp8E5M2>(call, call.input(0).type, [&](auto type) {
    using Type = decltype(type);
    const Pool pool = pool_of(call);
    const Extreme extreme(call);
    const auto in = elements<typename Type::T>(call.input(0));
    const auto out = elements<typename Type::T>(call.output());
    for_each_window(pool, [&](int64_t at, auto&& window) {
      auto largest = extreme.lowest<Type>();
      window([&](int64_t i) { largest = extreme.larger<decltype(largest)>(largest, Type::load(in[i])); });
      out[at] = Type::store(largest);
    });
  });
}

}  // namespace npu::reference
