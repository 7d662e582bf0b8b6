// SPDX-License-Identifier: Apache-2.0
// The simulated NPU as what runs conformance tests.
#pragma once

#include <string>

#include "driver/runtime/runtime.h"
#include "hw/presets/preset.h"
#include "sim/conformance/judge.h"

namespace npu::cli {

class ConformanceDevice {
 public:
  // Tests at a time: each has a context of its own.
  static constexpr size_t kMostJobs = 8;

  // Throws Error: what opening a device throws.
  ConformanceDevice(const presets::Preset& preset, bool timed);

  // Refers to this.
  [[nodiscard]] conformance::Run runner();

 private:
  runtime::Device device_;
};

}  // namespace npu::cli
