// SPDX-License-Identifier: Apache-2.0
// Iteration spaces of several operands: dropping and merging dimensions that need not be apart.
#pragma once

#include <cstdint>
#include <vector>

namespace npu::compiler::backend {

// `strides[k]` belongs to operand k and has an entry a dimension.
struct Iteration {
  std::vector<int64_t> dims;
  std::vector<std::vector<int64_t>> strides;

  // Drops dimensions of one position and merges neighbours that every operand walks as one. At least one dimension is
  // left; with `keep_innermost` the innermost one stays as it is.
  void simplify(bool keep_innermost);
};

}  // namespace npu::compiler::backend
