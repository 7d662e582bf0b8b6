// SPDX-License-Identifier: Apache-2.0
// Functions of real numbers, element by element: computed in double, whose own error is far below half a unit in the
// last place of any result, then rounded once.
#include <cmath>

#include "sim/reference/elementwise.h"
#include "sim/reference/operators.h"

namespace npu::reference {
namespace {

template <typename F>
void function(Call& call, F f) {
  for_type<Fp32, Fp16, Bf16>(call, call.input(0).type,
                             [&](auto type) { unary<decltype(type), decltype(type)>(call, f); });
}

}  // namespace

void ceil(Call& call) {
  function(call, [](double x) { return std::ceil(x); });
}

void floor(Call& call) {
  function(call, [](double x) { return std::floor(x); });
}

void cos(Call& call) {
  function(call, [](double x) { return std::cos(x); });
}

void sin(Call& call) {
  function(call, [](double x) { return std::sin(x); });
}

void erf(Call& call) {
  function(call, [](double x) { return std::erf(x); });
}

void exp(Call& call) {
  function(call, [](double x) { return std::exp(x); });
}

void log(Call& call) {
  function(call, [](double x) { return std::log(x); });
}

void reciprocal(Call& call) {
  function(call, [](double x) { return 1 / x; });
}

void rsqrt(Call& call) {
  function(call, [](double x) { return 1 / std::sqrt(x); });
}

void sigmoid(Call& call) {
  function(call, [](double x) { return 1 / (1 + std::exp(-x)); });
}

void tanh(Call& call) {
  function(call, [](double x) { return std::tanh(x); });
}

void pow(Call& call) {
  binary_of<Fp32, Fp16, Bf16>(call, [&](double base, double exponent) {
    call.require(std::isfinite(base) && std::isfinite(exponent), "an operand is an infinity or a NaN");
    call.require(base >= 0, "the base is negative");
    call.require(base > 0 || exponent > 0, "zero has no power that is not positive");
    return std::pow(base, exponent);
  });
}

}  // namespace npu::reference
