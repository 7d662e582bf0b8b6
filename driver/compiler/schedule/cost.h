// Estimates of cycles, for choosing between tilings. Only their order matters.
#pragma once

#include <cstdint>

#include "driver/compiler/ir.h"
#include "hw/contract/gen/capabilities.h"

namespace npu::compiler::backend {

struct MxuWork {
  contract::MxuMode mode = contract::MxuMode::kConv;
  contract::Element src_type = contract::Element::kI8, weight_type = contract::Element::kI8;
  int64_t in_c = 1, out_c = 1, out_h = 1, out_w = 1, kernel_h = 1, kernel_w = 1;
};

[[nodiscard]] double mxu_cycles(const MxuWork& work, const contract::Capabilities& capabilities);
// `operations`: micro-operations an element.
[[nodiscard]] double vpu_cycles(int64_t elements, int64_t operations, const contract::Capabilities& capabilities);
// A transfer of `runs` runs of `run` contiguous bytes; `dram`: one side is DRAM.
[[nodiscard]] double dma_cycles(int64_t runs, int64_t run, bool dram, const contract::Capabilities& capabilities);

}  // namespace npu::compiler::backend
