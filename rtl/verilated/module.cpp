// SPDX-License-Identifier: Apache-2.0
#include "rtl/verilated/module.h"

#define NPU_EXPORTED extern "C" __attribute__((visibility("default")))

NPU_EXPORTED const char* npu_rtl_source_version() { return npu::rtl::source_version().data(); }

NPU_EXPORTED const npu::rtl::BlockMakers* npu_rtl_blocks() {
  static const npu::rtl::BlockMakers makers = npu::rtl::linked_blocks();
  return &makers;
}
