// SPDX-License-Identifier: Apache-2.0
#include "rtl/verilated/wrong.h"

#include <Vmac_array_floats_at_once_wrong_residual.h>
#include <Vmac_array_floats_wrong_padding.h>
#include <Vmac_array_floats_wrong_subnormals.h>
#include <Vmac_array_floats_wrong_tree.h>
#include <Vmac_array_nano_wrong.h>
#include <Vvpu_nano_wrong.h>

#include "rtl/verilated/float_machines.h"
#include "rtl/verilated/mac_array_wrapper.h"
#include "rtl/verilated/vpu_wrapper.h"

namespace npu::rtl {

std::unique_ptr<MacArray> make_wrong_mac_array() {
  return std::make_unique<VerilatedMacArray<Vmac_array_nano_wrong>>(sizes_of("nano"));
}

std::unique_ptr<Vpu> make_wrong_vpu() { return std::make_unique<VerilatedVpu<Vvpu_nano_wrong>>(sizes_of("nano")); }

const char* machine_of(FloatMistake mistake) {
  return mistake == FloatMistake::kResidual ? "floats_at_once" : "floats";
}

std::unique_ptr<MacArray> make_wrong_mac_array(FloatMistake mistake) {
  const contract::Capabilities sizes = float_sizes_of(machine_of(mistake));
  switch (mistake) {
    case FloatMistake::kTree:
      return std::make_unique<VerilatedMacArray<Vmac_array_floats_wrong_tree>>(sizes);
    case FloatMistake::kSubnormals:
      return std::make_unique<VerilatedMacArray<Vmac_array_floats_wrong_subnormals>>(sizes);
    case FloatMistake::kPadding:
      return std::make_unique<VerilatedMacArray<Vmac_array_floats_wrong_padding>>(sizes);
    case FloatMistake::kResidual:
      return std::make_unique<VerilatedMacArray<Vmac_array_floats_at_once_wrong_residual>>(sizes);
  }
  return nullptr;
}

}  // namespace npu::rtl
