// SPDX-License-Identifier: Apache-2.0
// Trials of a persistent SRAM that the caller brings, right or wrong.
#pragma once

#include <memory>

#include "rtl/verilated/persistent_sram.h"
#include "sim/cosim/trial.h"

namespace npu::cosim {

[[nodiscard]] std::unique_ptr<Trials> make_persistent_sram_trials(std::unique_ptr<rtl::PersistentSram> block);

}  // namespace npu::cosim
