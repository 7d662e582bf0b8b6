// SPDX-License-Identifier: Apache-2.0
// Data-layout operators: the parts that a CONCAT or PAD puts together, and what lies around them.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "driver/compiler/lower/emitter.h"
#include "driver/compiler/lower/facts.h"
#include "driver/compiler/lower/views.h"

namespace npu::compiler {

// Where each operand of a CONCAT lies in the view of its result.
[[nodiscard]] std::vector<View> concat_parts(const Facts& facts, const graph::Operator& op, const View& whole);
// Where PAD's operand lies in the view of its result.
[[nodiscard]] View pad_interior(const Facts& facts, const graph::Operator& op, const View& whole);
// The value of an operand of one element: known now, or where it lies at run time.
using ElementValue = std::variant<uint64_t, View>;
[[nodiscard]] ElementValue element_value(Emitter& emitter, graph::TensorId id);
// Fills the shell around the interior with the element: for each dimension what lies before and after it, so that no
// byte is written twice.
void fill_shell(Emitter& emitter, const View& whole, const Dims& start, const Dims& size, const ElementValue& element);

}  // namespace npu::compiler
