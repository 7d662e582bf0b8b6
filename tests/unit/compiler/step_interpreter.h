// SPDX-License-Identifier: Apache-2.0
// Runs a Module step by step on its buffers, whole views at a time: what a Program must compute.
#pragma once

#include <cstdint>
#include <vector>

#include "driver/compiler/ir.h"

namespace npu::compiler::testing {

// Bytes of every buffer. Constants are filled in by run_steps; inputs and variables are the caller's.
using Buffers = std::vector<std::vector<uint8_t>>;

[[nodiscard]] Buffers make_buffers(const Module& module);
void run_steps(const Module& module, Buffers& buffers);

}  // namespace npu::compiler::testing
