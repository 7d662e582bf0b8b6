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

// Leaves out layers that have no step any more.
void drop_empty_layers(Module& module);

}  // namespace npu::compiler::backend
