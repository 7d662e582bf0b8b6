// SPDX-License-Identifier: Apache-2.0
// A network or an operator on the device, in processes of their own: SystemC elaborates once a process.
#pragma once

#include <filesystem>

#include "sim/regression/result.h"

namespace npu::regression {

// Runs `npu run` three times: model and RTL in lockstep, checked against the reference; the model alone; all engines
// that have RTL on it. `bundle` is the folder for the replay bundle of a tile that differs, which must not exist.
// Throws Error for a network that cannot be read or a case that cannot be made; Stopped.
[[nodiscard]] Result run_on_device(const Case& one, const std::filesystem::path& bundle);

}  // namespace npu::regression
