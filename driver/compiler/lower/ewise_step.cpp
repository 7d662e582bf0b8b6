// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/lower/ewise_step.h"

#include <utility>
#include <vector>

#include "driver/compiler/lower/parameters.h"
#include "driver/compiler/lower/views.h"
#include "hw/contract/error.h"

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

View block_of(Emitter& emitter, const EwiseOperand& operand) {
  switch (operand.role) {
    case EwiseOperand::Role::kParams:
      return parameter_block(emitter, operand.params);
    case EwiseOperand::Role::kTable: {
      const View table = emitter.read_dense(operand.tensor);
      View blob = blob_view(table.buffer, product(table.dims) * contract::element_bytes(table.type));
      blob.offset = table.offset;
      return blob;
    }
    case EwiseOperand::Role::kEntries: {
      std::vector<uint8_t> bytes(operand.bytes);
      for (size_t i = 0; i < operand.entries.size(); ++i) {
        contract::detail::store(bytes.data() + i * sizeof(int32_t), operand.entries[i]);
      }
      return emitter.constant_blob(std::move(bytes));
    }
    case EwiseOperand::Role::kStream:
    case EwiseOperand::Role::kScalar:
    case EwiseOperand::Role::kResult:
      break;
  }
  panic(__FILE__, __LINE__, "an operand that is no block");
}

}  // namespace npu::compiler
