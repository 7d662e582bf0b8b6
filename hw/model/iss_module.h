// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
// The door of the shared module that holds an instruction-set simulator: two C symbols.
#pragma once

#include "hw/model/iss.h"

namespace npu::model {

// Raised when iss.h changes; a module of another version is not loaded.
inline constexpr uint32_t kIssModuleVersion = 2;

extern "C" {
using IssModuleVersion = uint32_t();             // symbol npu_iss_version
using IssModuleCreate = Iss*(const IssConfig&);  // symbol npu_iss_create; the caller deletes it
}

}  // namespace npu::model
