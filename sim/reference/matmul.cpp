// MATMUL, plain: each product is added to an accumulator whose range is checked.
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
    const ZeroPoints zero = zero_points_of(call, In::kType, In::kType, 2);
    const auto a = elements<typename In::T>(call.input(0));
    const auto b = elements<typename In::T>(call.input(1));
    const auto out = elements<typename Out::T>(call.output());
    for (int64_t n = 0; n < g.n; ++n) {
      for (int64_t h = 0; h < g.h; ++h) {
        for (int64_t w = 0; w < g.w; ++w) {
          int64_t sum = 0;
          for (int64_t c = 0; c < g.c; ++c) {
            const int64_t value_a = a[(n * g.h + h) * g.c + c] - zero.a;
            const int64_t value_b = b[(n * g.c + c) * g.w + w] - zero.b;
            sum = reference::add<Out>(call, sum, value_a * value_b);
          }
          out[(n * g.h + h) * g.w + w] = static_cast<typename Out::T>(sum);
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
