// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/lower/ewise_step.h"

#include "driver/compiler/lower/views.h"

namespace npu::compiler {

void merge_dimensions(EwiseStep& step) {
  std::vector<std::vector<int64_t>*> strides;
  for (EwiseStep::Operand& operand : step.operands) {
    if (!operand.blob) strides.push_back(&operand.view.strides);
  }
  coalesce(step.dims, strides, step.innermost_fixed);
  for (EwiseStep::Operand& operand : step.operands) {
    if (!operand.blob) operand.view.dims = step.dims;
  }
}

}  // namespace npu::compiler
