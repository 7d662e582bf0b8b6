// SPDX-License-Identifier: Apache-2.0
// MATMUL, plain: each product is added to an accumulator, whose range is checked for integers.
#include "sim/reference/arithmetic.h"
#include "sim/reference/fast.h"
#include "sim/reference/geometry.h"
#include "sim/reference/operators.h"
#include "sim/reference/plain.h"

namespace npu::reference {

void plain::matmul(Call& call) {
  for_matmul_types(call, [&](auto in_type, auto out_type) {
    using In = decltype(in_type);
    using Out = decltype(out_type);
    const MatMul g = matmul_of(call);
    using Wide = typename Out::Wide;
    const ZeroPoints zero = zero_points_of(call, In::kType, In::kType, 2);
    const auto a = wide_elements<In>(call.input(0));
    const auto b = wide_elements<In>(call.input(1));
    const auto out = elements<typename Out::T>(call.output());
    for (int64_t n = 0; n < g.n; ++n) {
      for (int64_t h = 0; h < g.h; ++h) {
        for (int64_t w = 0; w < g.w; ++w) {
          Wide sum = 0;
          for (int64_t c = 0; c < g.c; ++c) {
            const Wide value_a = a[(n * g.h + h) * g.c + c] - static_cast<Wide>(zero.a);
            const Wide value_b = b[(n * g.c + c) * g.w + w] - static_cast<Wide>(zero.b);
            sum = reference::add<Out>(call, sum, value_a * value_b);
          }
          out[(n * g.h + h) * g.w + w] = Out::store(sum);
        }
      }
    }
  });
}

void matmul(Call& call) {
  if (!fast::matmul(call)) {
    plain::matmul(call);
  }
}

}  // namespace npu::reference
