// SPDX-License-Identifier: Apache-2.0
#include "sim/cosim/block_source.h"

namespace npu::cosim {

const rtl::BlockMakers* find_block_makers() {
  static const rtl::BlockMakers makers = rtl::linked_blocks();
  return &makers;
}

}  // namespace npu::cosim
