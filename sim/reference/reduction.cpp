// SPDX-License-Identifier: Apache-2.0
// Reductions along one axis, and ARGMAX.
#include <functional>

#include "sim/reference/arithmetic.h"
#include "sim/reference/operators.h"

namespace npu::reference {
namespace {

using contract::ErrorCode;

// A shape as [outer, length, inner] around the axis of the operator.
struct ReducedAxis {
  int64_t outer = 1, length = 1, inner = 1;
};

ReducedAxis axis_of(const Call& call) {
  const Shape& shape = call.input(0).shape;
  const int32_t axis = call.attributes().axis;
  call.error_if(axis < 0 || static_cast<size_t>(axis) >= shape.size(), ErrorCode::kBadArgument,
                fmt::format("axis {} is not one of {}", axis, graph::to_string(shape)));
  ReducedAxis result;
  for (size_t d = 0; d < shape.size(); ++d) {
    int64_t& part = d < static_cast<size_t>(axis)    ? result.outer
                    : d == static_cast<size_t>(axis) ? result.length
                                                     : result.inner;
    part *= shape[d];
  }
  if (call.op().op != graph::Op::kArgMax && call.output().type != call.input(0).type) {
    call.unsupported_types();
  }
  call.error_if(element_count(call.output().shape) != result.outer * result.inner, ErrorCode::kBadShape,
                "the result's shape is not the operand's without the axis");
  return result;
}

// result = f(f(f(start, x0), x1), x2)... along the axis.
template <typename Type, typename F>
void reduce(Call& call, typename Type::Wide start, F f) {
  using T = typename Type::T;
  const ReducedAxis axis = axis_of(call);
  const auto in = elements<T>(call.input(0));
  const auto out = elements<T>(call.output());
  for (int64_t o = 0; o < axis.outer; ++o) {
    for (int64_t i = 0; i < axis.inner; ++i) {
      auto value = start;
      for (int64_t k = 0; k < axis.length; ++k) {
        value = f(value, Type::load(in[(o * axis.length + k) * axis.inner + i]));
      }
      out[o * axis.inner + i] = Type::store(value);
    }
  }
}

}  // namespace

void reduce_all(Call& call) {
  for_type<Bool>(call, call.input(0).type,
                 [&](auto type) { reduce<decltype(type)>(call, 1, [](bool a, bool b) { return a && b; }); });
}

void reduce_any(Call& call) {
  for_type<Bool>(call, call.input(0).type,
                 [&](auto type) { reduce<decltype(type)>(call, 0, [](bool a, bool b) { return a || b; }); });
}

void reduce_max(Call& call) {
  for_type<Int8, Int16, Int32, Fp32, Fp16, Bf16>(call, call.input(0).type, [&](auto type) {
    using Wide = typename decltype(type)::Wide;
    const Extreme extreme(call);
    reduce<decltype(type)>(call, extreme.lowest<decltype(type)>(),
                           [&](Wide a, Wide b) { return extreme.larger(a, b); });
  });
}

void reduce_min(Call& call) {
  for_type<Int8, Int16, Int32, Fp32, Fp16, Bf16>(call, call.input(0).type, [&](auto type) {
    using Wide = typename decltype(type)::Wide;
    const Extreme extreme(call);
    reduce<decltype(type)>(call, extreme.highest<decltype(type)>(),
                           [&](Wide a, Wide b) { return extreme.smaller(a, b); });
  });
}

void reduce_sum(Call& call) {
  for_type<Int32, Fp32, Fp16, Bf16>(call, call.input(0).type, [&](auto type) {
    using Type = decltype(type);
    reduce<Type>(call, 0, [&](auto a, auto b) { return reference::add<Type>(call, a, b); });
  });
}

void reduce_product(Call& call) {
  for_type<Fp32, Fp16, Bf16>(call, call.input(0).type,
                             [&](auto type) { reduce<decltype(type)>(call, 1, std::multiplies<>()); });
}

void arg_max(Call& call) {
  if (call.output().type != DType::kInt32) {
    call.unsupported_types();
  }
  for_type<Int8, Int16, Fp32, Fp16, Bf16, Fp8E4M3, Fp8E5M2>(call, call.input(0).type, [&](auto type) {
    using Type = decltype(type);
    using Wide = typename Type::Wide;
    const Extreme extreme(call);
    const ReducedAxis axis = axis_of(call);
    const auto in = elements<typename Type::T>(call.input(0));
    const auto out = elements<int32_t>(call.output());
    for (int64_t o = 0; o < axis.outer; ++o) {
      for (int64_t i = 0; i < axis.inner; ++i) {
        Wide best = extreme.lowest<Type>();
        int64_t best_index = 0;
        for (int64_t k = 0; k < axis.length; ++k) {
          const Wide value = extreme.larger<Wide>(best, Type::load(in[(o * axis.length + k) * axis.inner + i]));
          const bool both_nan = value != value && best != best;
          if (value != best && !both_nan) {  // the first of equals wins
            best = value;
            best_index = k;
          }
        }
        out[o * axis.inner + i] = in_range<Int32>(call, best_index, "the index");
      }
    }
  });
}

}  // namespace npu::reference
