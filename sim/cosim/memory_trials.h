// SPDX-License-Identifier: Apache-2.0
// The trials of the blocks that move and keep bytes.
#pragma once

#include <memory>

#include "hw/contract/gen/capabilities.h"
#include "sim/cosim/trial.h"

namespace npu::cosim {

// Throw npu::Error: feature_unsupported when there is no RTL beside this program, bad_preset when none was built with
// the sizes of this machine.

// Random commands for the DMA's address generator: its beats against the model's walk. Held back, both sides wait.
[[nodiscard]] std::unique_ptr<Trials> make_dma_trials(const contract::Capabilities& caps);
// Random accesses of all requesters: what is read, and who is granted in every cycle. Held back, they compete for
// banks.
[[nodiscard]] std::unique_ptr<Trials> make_scratchpad_trials(const contract::Capabilities& caps);
// Random accesses, operations on the variable table, flipped bits and power states. Held back, accesses and operations
// compete for the array.
[[nodiscard]] std::unique_ptr<Trials> make_persistent_sram_trials(const contract::Capabilities& caps);

}  // namespace npu::cosim
