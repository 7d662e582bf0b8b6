// SPDX-License-Identifier: Apache-2.0
// The VPU as fast tile kernels with the cycles of hw/timing.
#pragma once

#include <memory>

#include "hw/contract/gen/capabilities.h"
#include "hw/engine/engine.h"
#include "hw/engine/kernels.h"

namespace npu::engine {

// Executes `vpu_ewise`, `vpu_pool` and `vpu_reduce` commands; what each micro-operation does is in uops-inl.h.
// Errors: those of Engine::run().
[[nodiscard]] std::unique_ptr<Engine> make_vpu_model(const contract::Capabilities& caps,
                                                     const Kernels& kernels = best_kernels());

}  // namespace npu::engine
