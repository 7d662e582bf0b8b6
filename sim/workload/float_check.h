// SPDX-License-Identifier: Apache-2.0
// Outputs of floating point against those of the reference. An engine's rounding is not the reference's, which computes
// in double: so elements may differ by a few units, and those of a recurrent network, which adds up what its steps
// differ by, by more.
#pragma once

#include <cstdint>

#include "driver/graph/value.h"

namespace npu::workload {

// Elements may be so many units in the last place of their output's largest number away from the reference's. A unit of
// a small format is a large part of a number, and its results round what was computed in FP32. It is no bound of the
// specification, which knows the operands.
[[nodiscard]] double most_units(graph::DType type);  // 64 of FP32, 8 of FP16, 4 of BF16, 1 of FP8

struct FloatDifference {
  int64_t compared = 0;
  int64_t rounded = 0;    // that have other bits, and are near enough
  int64_t nans = 0;       // that are NaNs in both, of any bits
  int64_t differing = 0;  // that are not
  int64_t first = -1;     // index of the first of those
  double worst = 0;       // the largest difference of finite numbers, in units, also of those that differ
};

// Of values of one floating-point type and one shape. Infinities and NaNs must meet their like.
[[nodiscard]] FloatDifference compare_floats(const graph::Value& got, const graph::Value& want);

}  // namespace npu::workload
