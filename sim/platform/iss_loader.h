// SPDX-License-Identifier: Apache-2.0
// Opens the shared module with the instruction-set simulator (hw/model/iss_module.h).
#pragma once

#include <string>

#include "hw/model/control_cpu.h"

namespace npu::platform {

// A factory of simulators from the module at `path`; empty: libnpu_iss.so where the loader finds it. The module stays
// open until the process ends. Throws Error(kCannotRead) if it is missing, is no such module, or is of another version;
// the factory does so if the module cannot make a simulator.
[[nodiscard]] model::IssFactory load_iss(const std::string& path);

}  // namespace npu::platform
