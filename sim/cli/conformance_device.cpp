// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/conformance_device.h"

#include "driver/compiler/compile.h"
#include "hw/contract/error.h"

namespace npu::cli {
namespace {

using contract::ErrorCode;

// Whether another program of the device may hold what this one lacks.
bool lacks_room(ErrorCode code) {
  return code == ErrorCode::kDramFull || code == ErrorCode::kPersistentFull || code == ErrorCode::kVariableTableFull;
}

}  // namespace

ConformanceDevice::ConformanceDevice(const MachineOptions& machine) : device_(open_device(machine)) {}

conformance::Run ConformanceDevice::runner() {
  return [this](const workload::Network& network, const std::vector<graph::Value>& inputs) {
    const compiler::Program program = compiler::compile(network.graph, device_.capabilities(), {});
    try {
      std::unique_lock turn(turn_);
      const std::shared_lock beside_others(tests_);
      turn.unlock();
      return run(program, inputs);
    } catch (const Error& error) {
      if (!lacks_room(error.code())) throw;
    }
    const std::lock_guard turn(turn_);
    const std::lock_guard alone(tests_);
    return run(program, inputs);
  };
}

std::vector<graph::Value> ConformanceDevice::run(const compiler::Program& program,
                                                 const std::vector<graph::Value>& inputs) {
  runtime::Context context = device_.create_context();
  runtime::Job job = context.load(program).create_job();
  for (size_t i = 0; i < inputs.size(); ++i) job.set_input(i, inputs[i]);
  static_cast<void>(job.run());
  return job.outputs();
}

}  // namespace npu::cli
