// SPDX-License-Identifier: Apache-2.0
// The MXU as fast tile kernels with the cycles of hw/timing.
#pragma once

#include <memory>

#include "hw/contract/gen/capabilities.h"
#include "hw/engine/engine.h"
#include "hw/engine/kernels.h"

namespace npu::engine {

// Executes `mxu` commands: convolution, depthwise convolution and matrix product with the output stage. Zero points are
// kept to the width of their operand's elements. Accumulators wrap at 32 bits (int8) or 48 bits (int16).
// Errors: those of Engine::run().
[[nodiscard]] std::unique_ptr<Engine> make_mxu_model(const contract::Capabilities& caps,
                                                     const Kernels& kernels = best_kernels());

}  // namespace npu::engine
