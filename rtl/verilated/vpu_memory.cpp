// SPDX-License-Identifier: Apache-2.0
// What a memory does with the block's requests; knows nothing of Verilator.
#include <bit>
#include <cstring>

#include "rtl/verilated/vpu.h"

namespace npu::rtl {

void fetch(const Vpu::Parameters& request, const uint8_t* base) {
  std::memcpy(request.data, base + request.offset, request.bytes);
}

void fetch(const Vpu::Read& request, const uint8_t* base) {
  for (uint64_t left = request.lanes; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    std::memcpy(request.data + lane, base + static_cast<int32_t>(request.offsets[lane]), request.element_bytes);
  }
}

void store(const Vpu::Write& request, uint8_t* base) {
  for (uint64_t left = request.lanes; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    std::memcpy(base + static_cast<int32_t>(request.offsets[lane]), request.data + lane, request.element_bytes);
  }
}

}  // namespace npu::rtl
