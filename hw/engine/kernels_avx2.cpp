// SPDX-License-Identifier: Apache-2.0
// The kernels for x86 machines with AVX2 and fused multiply-add.
#include "hw/engine/kernel_sets.h"
#include "hw/engine/vpu_uops.h"

#if defined(__x86_64__)

#include <immintrin.h>

// Everything between push and pop is compiled for the set; nothing else may be, or machines without it would run it.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#endif

#define NPU_SIMD avx2
#include "hw/engine/memory-inl.h"
//
#include "hw/engine/simd_avx2-inl.h"
//
#include "hw/engine/kernels-inl.h"

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

namespace npu::engine {

const Kernels* avx2_kernels() {
  static constexpr Kernels kKernels = avx2::make_kernels("avx2");
  return &kKernels;
}

}  // namespace npu::engine

#else

namespace npu::engine {

const Kernels* avx2_kernels() { return nullptr; }

}  // namespace npu::engine

#endif
