// SPDX-License-Identifier: Apache-2.0
// The table of a set. Included last by one kernels_*.cpp.

#include "hw/contract/error.h"
#include "hw/engine/depthwise-inl.h"
#include "hw/engine/float-inl.h"
#include "hw/engine/float_sums-inl.h"
#include "hw/engine/gemm-inl.h"
#include "hw/engine/output-inl.h"
#include "hw/engine/pool-inl.h"
#include "hw/engine/uops-inl.h"

namespace npu::engine::NPU_SIMD {
namespace {

constexpr Kernels make_kernels(const char* name) {
  return {name,        pack8,     gemm8,      gemm16,          dot8,        depthwise8,      depthwise16,
          output32,    output48,  uops,       pool_add,        pool_finish, to_floats,       from_floats,
          join_floats, join_rows, pack_float, pack_float_rows, gemm_float,  depthwise_float, output_float};
}

}  // namespace
}  // namespace npu::engine::NPU_SIMD
