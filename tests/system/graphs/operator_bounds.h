// SPDX-License-Identifier: Apache-2.0
// How near the results of one operator have to be to those of the reference.
#pragma once

#include <cstdint>
#include <vector>

#include "driver/graph/graph.h"
#include "driver/graph/value.h"

namespace npu::test {

enum class Bound : uint8_t {
  kBits,      // every bit: integers, and what moves elements
  kNumber,    // the same number, whatever the sign of a zero and the bits of a NaN
  kFunction,  // what the specification allows the function
  kSum,       // units of what the sum of the terms' magnitudes is: terms may cancel each other
  kProduct,   // units of the result
};
[[nodiscard]] Bound bound_of(const graph::Operator& op);

// One result of an operator on its operands, beside the reference's. `magnitudes`, of kSum: what the reference makes of
// the magnitudes of their numbers.
struct Judged {
  const graph::Operator& op;
  std::vector<graph::Value> operands;  // as the operator names them, but shapes
  const graph::Value &got, &want, &magnitudes;
  int64_t lanes = 0;  // that share the additions of a REDUCE_SUM's row; 0: it is bound as other sums are
};
struct Verdict {
  int64_t compared = 0, rounded = 0;  // rounded: with other bits, and within the bound
  int64_t differing = 0, first = -1;  // beyond it; the index of the first of these
  double worst = 0;                   // the largest share of the bound, of those within
};
[[nodiscard]] Verdict judge(const Judged& judged);

// An element of floating point, or an integer, as a number.
[[nodiscard]] double number_at(const graph::Value& value, int64_t element);

}  // namespace npu::test
