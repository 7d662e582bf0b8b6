// SPDX-License-Identifier: Apache-2.0
// All views of a step, whatever its kind.
#pragma once

#include <vector>

#include "driver/compiler/ir.h"

namespace npu::compiler::backend {

template <class V>
struct StepView {
  V* view = nullptr;
  bool result = false;
};

[[nodiscard]] std::vector<StepView<View>> views_of(Step& step);
[[nodiscard]] std::vector<StepView<const View>> views_of(const Step& step);

// Bytes of the rows that the indices of a gather or scatter choose.
[[nodiscard]] int64_t rows_bytes(const GatherStep& step);

// Bytes that a step moves of one of its views: of a table the rows that indices choose, else all.
[[nodiscard]] int64_t moved_bytes(const Step& step, const StepView<const View>& view);

// Leaves out layers that have no step any more.
void drop_empty_layers(Module& module);

}  // namespace npu::compiler::backend
