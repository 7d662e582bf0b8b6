// SPDX-License-Identifier: Apache-2.0
// Iteration spaces of several operands: dropping and merging dimensions that need not be apart.
#pragma once

#include <cstdint>
#include <vector>

#include "driver/compiler/ir.h"

namespace npu::compiler::backend {

// `strides[k]` belongs to operand k and has an entry a dimension.
struct Iteration {
  std::vector<int64_t> dims;
  std::vector<std::vector<int64_t>> strides;

  // Drops dimensions of one position and merges neighbours that every operand walks as one. At least one dimension is
  // left; with `keep_innermost` the innermost one stays as it is. Those that are open are not dropped, nor merged with
  // the one outside.
  void simplify(bool keep_innermost, OpenDimensions open = 0);
};

}  // namespace npu::compiler::backend
