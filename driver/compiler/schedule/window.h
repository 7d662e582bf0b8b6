// SPDX-License-Identifier: Apache-2.0
// Which input positions a range of output positions of a convolution or pooling window reads, along one dimension.
#pragma once

#include <algorithm>
#include <cstdint>

#include "driver/compiler/schedule/view.h"

namespace npu::compiler::backend {

struct Window {
  int64_t kernel = 1, stride = 1, dilation = 1, pad = 0, extent = 1;  // pad: before position 0; extent: of the input

  [[nodiscard]] int64_t reach() const { return (kernel - 1) * dilation + 1; }
  // Positions inside the input; one position where the whole window lies in the padding, since a box is never empty.
  [[nodiscard]] Range input(Range out) const {
    const int64_t first = std::clamp<int64_t>(out.start * stride - pad, 0, extent - 1);
    const int64_t last = std::clamp<int64_t>((out.start + out.count - 1) * stride - pad + reach() - 1, 0, extent - 1);
    return {first, last - first + 1};
  }
  [[nodiscard]] int64_t largest_input(int64_t count) const { return std::min(extent, (count - 1) * stride + reach()); }
  // Padding before the first position of `input(out)`, as a command wants it.
  [[nodiscard]] int64_t padding(Range out) const { return pad - out.start * stride + input(out).start; }
};

}  // namespace npu::compiler::backend
