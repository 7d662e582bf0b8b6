// SPDX-License-Identifier: Apache-2.0
// Random tiles on an engine's RTL and on the model, in lockstep.
#pragma once

#include <memory>
#include <string>

#include "hw/contract/gen/capabilities.h"
#include "sim/cosim/lockstep.h"
#include "sim/cosim/trial.h"

namespace npu::cosim {

// What is wrong with the results of a trial's tile, in words; empty: nothing. A tile that both refuse shows nothing.
[[nodiscard]] std::string difference_of(const Comparison& found);

// Throws npu::Error as make_rtl_engine does.
[[nodiscard]] std::unique_ptr<Trials> make_engine_trials(Unit unit, const contract::Capabilities& caps);

}  // namespace npu::cosim
