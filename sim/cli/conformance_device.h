// SPDX-License-Identifier: Apache-2.0
// The simulated NPU as what runs conformance tests.
#pragma once

#include <string>

#include "driver/runtime/runtime.h"
#include "sim/cli/machine_options.h"
#include "sim/conformance/judge.h"

namespace npu::cli {

class ConformanceDevice {
 public:
  // Tests at a time: each has a context of its own.
  static constexpr size_t kMostJobs = 8;

  // Throws Error: what open_device() throws.
  explicit ConformanceDevice(const MachineOptions& machine);

  // Refers to this.
  [[nodiscard]] conformance::Run runner();

 private:
  runtime::Device device_;
};

}  // namespace npu::cli
