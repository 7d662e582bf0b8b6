// SPDX-License-Identifier: Apache-2.0
// Additions of a residual that ride with an operator of the MXU. Of integers, behind a convolution's RESCALE to int8,
// each side of an ADD is rescaled to int32, and the sum is rescaled back to int8. Of floating point there is an ADD.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "driver/compiler/lower/facts.h"
#include "hw/contract/gen/commands.h"

namespace npu::compiler {

struct ResidualAdd {
  std::vector<size_t> ops;      // behind the convolution's RESCALE, if any; the last one makes the result
  graph::TensorId operand = 0;  // what is added, of the result's type and shape
  contract::Residual scales = contract::Residual::kNone;
  uint32_t value_left = 0, residual_left = 0;
  contract::ParameterHeader header;  // of integers: value_zp, output_zp, and all fields of the residual
};

// The addition that the MXU of the machine makes of the results of operator `op` behind `rescale`, which alone reads
// them. Nullopt where there is none: other types, a second use, parameters that come at run time, a scale for either
// side, or sums that are too large for one command.
[[nodiscard]] std::optional<ResidualAdd> residual_add(const Facts& facts, size_t op, size_t rescale);

// The same of floating point, where the ADD alone reads the results of operator `op`, or what RESHAPEs make of them.
[[nodiscard]] std::optional<ResidualAdd> float_residual_add(const Facts& facts, size_t op);

}  // namespace npu::compiler
