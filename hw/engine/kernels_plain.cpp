// SPDX-License-Identifier: Apache-2.0
// The kernels in plain C++, for any machine.
#include "hw/engine/kernel_sets.h"
#include "hw/engine/vpu_uops.h"

#define NPU_SIMD plain
#include "hw/engine/memory-inl.h"
//
#include "hw/engine/simd_plain-inl.h"
//
#include "hw/engine/kernels-inl.h"

namespace npu::engine {

const Kernels* plain_kernels() {
  static constexpr Kernels kKernels = plain::make_kernels("plain");
  return &kKernels;
}

}  // namespace npu::engine
