// SPDX-License-Identifier: Apache-2.0
#include "rtl/verilated/float_vpus.h"

#include <Vvpu_floats.h>
#include <Vvpu_floats_at_once.h>

#include "rtl/verilated/vpu_wrapper.h"

namespace npu::rtl {

std::span<const char* const> float_machines() {
  static constexpr const char* kMachines[] = {"floats", "floats_at_once"};
  return kMachines;
}

contract::Capabilities float_sizes_of(std::string_view machine) {
  contract::Capabilities caps = sizes_of("nano");
  caps.vpu_float = 1;
  if (machine == "floats_at_once") {
    caps.vpu_rescale = caps.vpu_tree = caps.vpu_table_pairs = 1;
  } else if (machine != "floats") {
    no_such_machine(machine);
  }
  return caps;
}

std::unique_ptr<Vpu> make_float_vpu(std::string_view machine) {
  const contract::Capabilities sizes = float_sizes_of(machine);
  if (machine == "floats") return std::make_unique<VerilatedVpu<Vvpu_floats>>(sizes);
  return std::make_unique<VerilatedVpu<Vvpu_floats_at_once>>(sizes);
}

}  // namespace npu::rtl
