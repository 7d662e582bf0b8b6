// SPDX-License-Identifier: GPL-2.0-only
// The two symbols of the module (hw/model/iss_module.h).
#include "hw/model/iss_module.h"
#include "sim/platform/iss/unicorn_iss.h"

extern "C" {

__attribute__((visibility("default"))) uint32_t npu_iss_version() { return npu::model::kIssModuleVersion; }

__attribute__((visibility("default"))) npu::model::Iss* npu_iss_create(const npu::model::IssConfig& config) {
  return new npu::iss::UnicornIss(config);
}
}
