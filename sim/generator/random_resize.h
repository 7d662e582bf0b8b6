// SPDX-License-Identifier: Apache-2.0
// Scales, offsets and borders of RESIZE that fit each other.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/cosim/random.h"

namespace npu::generator {

struct ResizeScale {
  std::vector<int64_t> size;   // of the operand, y first, as in the others
  std::vector<int64_t> scale;  // n and d of y, then of x
  std::vector<int64_t> offset, border;
};

// The usual scales and odd ones, up and down; the result is at most 15 pixels high and wide.
[[nodiscard]] ResizeScale random_resize(cosim::Random& random);

}  // namespace npu::generator
