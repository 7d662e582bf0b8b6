// SPDX-License-Identifier: Apache-2.0
// Which operators of a block the device refuses; the one source of support reports and of the compiler's errors.
#pragma once

#include <optional>

#include "driver/compiler/lower/facts.h"
#include "driver/compiler/lower/families.h"

namespace npu::compiler {

// Why an operator cannot run; nullopt when it can, or need not run.
[[nodiscard]] std::optional<Refusal> refusal_of(const Facts& facts, size_t op);
// "INT8 -> INT32"
[[nodiscard]] std::string types_of(const Facts& facts, const graph::Operator& op);
// Throws Error for the first operator, input, output or variable that the device cannot take.
void require_support(const Facts& facts);

}  // namespace npu::compiler
