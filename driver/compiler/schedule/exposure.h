// SPDX-License-Identifier: Apache-2.0
// How much of the loading of constants earlier work hides, as a schedule shows it.
#pragma once

#include <vector>

#include "driver/compiler/schedule/emit.h"
#include "driver/compiler/schedule/estimate.h"

namespace npu::compiler::backend {

// For each of `steps` steps the part, 0 to 1, of the time that its constants load in which the step itself could run
// already. Steps that load none keep what `before` says. `timeline` is that of `commands`.
[[nodiscard]] std::vector<double> observe_exposure(const std::vector<Command>& commands, const Timeline& timeline,
                                                   std::vector<double> before);

}  // namespace npu::compiler::backend
