// SPDX-License-Identifier: Apache-2.0
#include "rtl/verilated/wrong.h"

#include <Vmac_array_nano_wrong.h>
#include <Vvpu_nano_wrong.h>

#include "rtl/verilated/mac_array_wrapper.h"
#include "rtl/verilated/vpu_wrapper.h"

namespace npu::rtl {

std::unique_ptr<MacArray> make_wrong_mac_array() {
  return std::make_unique<VerilatedMacArray<Vmac_array_nano_wrong>>(sizes_of("nano"));
}

std::unique_ptr<Vpu> make_wrong_vpu() { return std::make_unique<VerilatedVpu<Vvpu_nano_wrong>>(sizes_of("nano")); }

}  // namespace npu::rtl
