// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace npu::rtl {

// The low `width` bits as a signed number.
inline int64_t sign_extend(uint64_t value, unsigned width) {
  return static_cast<int64_t>(value << (64 - width)) >> (64 - width);
}

}  // namespace npu::rtl
