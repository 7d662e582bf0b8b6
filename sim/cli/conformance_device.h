// SPDX-License-Identifier: Apache-2.0
// The simulated NPU as what runs conformance tests.
#pragma once

#include <mutex>
#include <shared_mutex>
#include <string>
#include <vector>

#include "driver/compiler/program.h"
#include "driver/runtime/runtime.h"
#include "sim/cli/machine_options.h"
#include "sim/conformance/judge.h"

namespace npu::cli {

class ConformanceDevice {
 public:
  // Tests at a time: each has a context of its own. One whose program finds no room beside the others waits for them
  // and runs alone, so that what passes does not depend on which tests run at the same time.
  static constexpr size_t kMostJobs = 8;

  // Throws Error: what open_device() throws.
  explicit ConformanceDevice(const MachineOptions& machine);

  // Refers to this.
  [[nodiscard]] conformance::Run runner();

 private:
  // The outputs of one run in a context of its own. Throws Error.
  [[nodiscard]] std::vector<graph::Value> run(const compiler::Program& program,
                                              const std::vector<graph::Value>& inputs);

  runtime::Device device_;
  std::mutex turn_;          // who waits for room lets no other test start
  std::shared_mutex tests_;  // held shared by tests that run beside others
};

}  // namespace npu::cli
