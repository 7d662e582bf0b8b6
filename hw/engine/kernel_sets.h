// SPDX-License-Identifier: Apache-2.0
// The sets of kernels, for kernels.cpp only; a set's table is null where the compiler cannot make it.
#pragma once

#include "hw/engine/kernels.h"

namespace npu::engine {

[[nodiscard]] const Kernels* plain_kernels();
[[nodiscard]] const Kernels* avx2_kernels();
[[nodiscard]] const Kernels* avx512_kernels();

}  // namespace npu::engine
