// SPDX-License-Identifier: Apache-2.0
// Loops over elements for operators of one and two operands.
#pragma once

#include "sim/reference/element.h"

namespace npu::reference {

// result = f(a) for all elements; Out may differ from In.
template <typename In, typename Out, typename F>
void unary(Call& call, F f) {
  if (call.output().type != Out::kType) {
    call.unsupported_types();
  }
  check_same_shape(call);
  const auto a = elements<typename In::T>(call.input(0));
  const auto out = elements<typename Out::T>(call.output());
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = Out::store(f(In::load(a[i])));
  }
}

// result = f(a, b) for all elements of the shape to which both broadcast.
template <typename In, typename Out, typename F>
void binary(Call& call, F f) {
  Value& result = call.output();
  if (call.input(0).type != In::kType || call.input(1).type != In::kType || result.type != Out::kType) {
    call.unsupported_types();
  }
  const auto a = elements<typename In::T>(call.input(0));
  const auto b = elements<typename In::T>(call.input(1));
  const auto out = elements<typename Out::T>(result);
  for_each_element<2>(result.shape,
                      {broadcast_strides(call, call.input(0).shape, result.shape),
                       broadcast_strides(call, call.input(1).shape, result.shape)},
                      [&](int64_t i, const std::array<int64_t, 2>& at) {
                        out[i] = Out::store(f(In::load(a[at[0]]), In::load(b[at[1]])));
                      });
}

// The same for operators whose result has the operands' type.
template <typename... Types, typename F>
void binary_of(Call& call, F f) {
  for_type<Types...>(call, call.input(0).type, [&](auto type) { binary<decltype(type), decltype(type)>(call, f); });
}

}  // namespace npu::reference
