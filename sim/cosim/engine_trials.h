// Random tiles on an engine's RTL and on the model, in lockstep.
#pragma once

#include <memory>

#include "hw/contract/gen/capabilities.h"
#include "sim/cosim/trial.h"

namespace npu::cosim {

// Throws npu::Error as make_rtl_engine does.
[[nodiscard]] std::unique_ptr<Trials> make_engine_trials(Unit unit, const contract::Capabilities& caps);

}  // namespace npu::cosim
