// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/conformance_device.h"

#include "driver/compiler/compile.h"

namespace npu::cli {

ConformanceDevice::ConformanceDevice(const MachineOptions& machine) : device_(open_device(machine)) {}

conformance::Run ConformanceDevice::runner() {
  return [this](const workload::Network& network, const std::vector<graph::Value>& inputs) {
    runtime::Context context = device_.create_context();
    runtime::Job job = context.load(compiler::compile(network.graph, device_.capabilities(), {})).create_job();
    for (size_t i = 0; i < inputs.size(); ++i) job.set_input(i, inputs[i]);
    static_cast<void>(job.run());
    return job.outputs();
  };
}

}  // namespace npu::cli
