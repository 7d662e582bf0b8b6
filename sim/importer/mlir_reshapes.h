// SPDX-License-Identifier: Apache-2.0
// RESHAPE of 48-bit integers, which exporters of 16-bit networks make and TOSA does not have.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/importer/mlir_text.h"

namespace npu::importer {

// Puts such a RESHAPE behind the RESCALE that narrows it, where nothing else uses it and the channels of a RESCALE with
// a multiplier for each stay the last dimension. `new_value` names values.
void move_wide_reshapes(std::vector<MlirOperation>& operations, const std::function<std::string()>& new_value);

}  // namespace npu::importer
