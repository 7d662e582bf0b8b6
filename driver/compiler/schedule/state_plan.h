// SPDX-License-Identifier: Apache-2.0
// Which variables live in the persistent SRAM, and which in DRAM.
#pragma once

#include "driver/compiler/ir.h"
#include "driver/compiler/schedule.h"
#include "hw/contract/gen/capabilities.h"

namespace npu::compiler::backend {

// Sets Variable::in_dram of all variables. Where they do not fit into the budget, those stay in SRAM that the steps
// move most bytes of, per byte of memory. A program that runs where one of them lies elsewhere computes the same.
void plan_state(Module& module, const contract::Capabilities& capabilities, const ScheduleOptions& options);

}  // namespace npu::compiler::backend
