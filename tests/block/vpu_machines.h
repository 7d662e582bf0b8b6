// SPDX-License-Identifier: Apache-2.0
// The VPUs that are tested: of the machines whose RTL was built, and those with floating point beside them.
#pragma once

#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

#include "rtl/verilated/machines.h"
#include "rtl/verilated/vpu.h"
#ifdef NPU_RTL_FLOAT_VPUS
#include "rtl/verilated/float_vpus.h"
#endif

namespace npu::rtl::test {

#ifdef NPU_RTL_FLOAT_VPUS

inline std::vector<const char*> vpu_machines() {
  std::vector<const char*> machines(built_machines().begin(), built_machines().end());
  machines.insert(machines.end(), float_machines().begin(), float_machines().end());
  return machines;
}

inline bool is_built(std::string_view machine) {
  return std::find(built_machines().begin(), built_machines().end(), machine) != built_machines().end();
}

inline contract::Capabilities vpu_sizes(std::string_view machine) {
  return is_built(machine) ? sizes_of(machine) : float_sizes_of(machine);
}

inline std::unique_ptr<Vpu> make_tested_vpu(std::string_view machine) {
  return is_built(machine) ? make_vpu(machine) : make_float_vpu(machine);
}

#else

inline std::vector<const char*> vpu_machines() { return {built_machines().begin(), built_machines().end()}; }
inline contract::Capabilities vpu_sizes(std::string_view machine) { return sizes_of(machine); }
inline std::unique_ptr<Vpu> make_tested_vpu(std::string_view machine) { return make_vpu(machine); }

#endif

}  // namespace npu::rtl::test
