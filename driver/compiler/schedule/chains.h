// SPDX-License-Identifier: Apache-2.0
// Which steps run stripe by stripe together.
#pragma once

#include "driver/compiler/schedule/analysis.h"
#include "driver/compiler/schedule/plan.h"
#include "driver/compiler/schedule/residency.h"

namespace npu::compiler::backend {

// Joins steps whose results in between would go to DRAM and back, or, with bytes dearer than kByteCycles, would take
// more of the scratchpad than their rows do, where the estimate says that it pays: the first of them in analysis.steps
// becomes the chain, the others null. True when there is any; then what `residency` says is out of date. `shared`:
// results that steps behind a chain read, too, may be made in it.
[[nodiscard]] bool form_chains(const Module& module, const PlanSettings& settings, bool shared, Residency& residency,
                               Analysis& analysis);

// Joins the same steps of a module of other sizes. False where they cannot be: then `analysis` is of no use.
[[nodiscard]] bool join_steps(const Module& module, const std::vector<JoinedSteps>& joined, Analysis& analysis);

}  // namespace npu::compiler::backend
