// SPDX-License-Identifier: Apache-2.0
// Which values the elements of a tensor can have.
#pragma once

#include <optional>

#include "driver/compiler/lower/facts.h"
#include "driver/compiler/lower/uop_values.h"

namespace npu::compiler {

// A range that holds every element, from the operators that make the tensor: at least that of its type. Of floating
// point it is that of a register.
[[nodiscard]] ValueRange tensor_range(const Facts& facts, graph::TensorId id);

}  // namespace npu::compiler
