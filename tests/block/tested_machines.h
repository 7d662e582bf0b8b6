// SPDX-License-Identifier: Apache-2.0
// The engines that are tested: of the machines whose RTL was built, and those with floating point beside them.
#pragma once

#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

#include "rtl/verilated/mac_array.h"
#include "rtl/verilated/machines.h"
#include "rtl/verilated/vpu.h"
#ifdef NPU_RTL_FLOAT_MACHINES
#include "rtl/verilated/float_machines.h"
#endif

namespace npu::rtl::test {

#ifdef NPU_RTL_FLOAT_MACHINES

inline std::vector<const char*> tested_machines() {
  std::vector<const char*> machines(built_machines().begin(), built_machines().end());
  machines.insert(machines.end(), float_machines().begin(), float_machines().end());
  return machines;
}

inline bool is_built(std::string_view machine) {
  return std::find(built_machines().begin(), built_machines().end(), machine) != built_machines().end();
}

inline contract::Capabilities tested_sizes(std::string_view machine) {
  return is_built(machine) ? sizes_of(machine) : float_sizes_of(machine);
}

inline std::unique_ptr<MacArray> make_tested_mac_array(std::string_view machine) {
  return is_built(machine) ? make_mac_array(machine) : make_float_mac_array(machine);
}

inline std::unique_ptr<Vpu> make_tested_vpu(std::string_view machine) {
  return is_built(machine) ? make_vpu(machine) : make_float_vpu(machine);
}

#else

inline std::vector<const char*> tested_machines() { return {built_machines().begin(), built_machines().end()}; }
inline contract::Capabilities tested_sizes(std::string_view machine) { return sizes_of(machine); }
inline std::unique_ptr<MacArray> make_tested_mac_array(std::string_view machine) { return make_mac_array(machine); }
inline std::unique_ptr<Vpu> make_tested_vpu(std::string_view machine) { return make_vpu(machine); }

#endif

}  // namespace npu::rtl::test
