// SPDX-License-Identifier: Apache-2.0
// The kernels for x86 machines with AVX-512 and VNNI.
#include "hw/engine/kernel_sets.h"
#include "hw/engine/vpu_uops.h"

#if defined(__x86_64__)

#include <immintrin.h>

// Everything between push and pop is compiled for the set; nothing else may be, or machines without it would run it.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx512vnni"))), \
                             apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx512vnni")
#endif

#define NPU_SIMD avx512
#include "hw/engine/memory-inl.h"
//
#include "hw/engine/simd_avx512-inl.h"
//
#include "hw/engine/output8_avx512-inl.h"
//
#include "hw/engine/kernels-inl.h"

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

namespace npu::engine {

const Kernels* avx512_kernels() {
  static constexpr Kernels kKernels = avx512::make_kernels("avx512");
  return &kKernels;
}

}  // namespace npu::engine

#else

namespace npu::engine {

const Kernels* avx512_kernels() { return nullptr; }

}  // namespace npu::engine

#endif
