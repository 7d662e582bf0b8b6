// SPDX-License-Identifier: Apache-2.0
#include "sim/reference/arithmetic.h"

namespace npu::reference {

using contract::ErrorCode;

void fail_outside(const Call& call, const char* what, int64_t value, DType type) {
  call.fail(ErrorCode::kRequireFailed, fmt::format("{} {} is outside {}", what, value, graph::name(type)));
}

void fail_above_shift(const Call& call, int64_t value, int32_t shift) {
  call.fail(ErrorCode::kRequireFailed, fmt::format("the value {} does not fit into {} bits, the shift", value, shift));
}

}  // namespace npu::reference
