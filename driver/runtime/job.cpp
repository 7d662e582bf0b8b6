// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "driver/graph/text.h"
#include "driver/runtime/device_state.h"
#include "driver/runtime/runtime.h"
#include "driver/runtime/sizes.h"

namespace npu::runtime {
namespace {

using contract::ErrorCode;

std::string names_of(std::span<const compiler::Port> ports) {
  std::string text;
  for (const compiler::Port& port : ports) text += (text.empty() ? "" : ", ") + graph::in_quotes(port.name);
  return text.empty() ? "none" : text;
}

size_t find_port(std::span<const compiler::Port> ports, std::string_view name, std::string_view what) {
  const auto port = std::find_if(ports.begin(), ports.end(), [&](const auto& p) { return p.name == name; });
  if (port == ports.end()) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("the program has no {} {}; there are {}.", what, graph::in_quotes(name), names_of(ports)));
  }
  return static_cast<size_t>(port - ports.begin());
}

bool alike(const std::vector<compiler::Port>& ports, const std::vector<compiler::Port>& others) {
  return std::equal(ports.begin(), ports.end(), others.begin(), others.end(), [](const auto& a, const auto& b) {
    return a.name == b.name && a.type == b.type && a.shape.size() == b.shape.size();
  });
}

}  // namespace

void Job::set_input(std::string_view name, const graph::Value& value) {
  const Lock lock(state_->context->device->mutex);
  set_input(find_port(state_->program->program.inputs, name, "input"), value);
}

void Job::set_input(size_t index, graph::Value value) {
  const Lock lock(state_->context->device->mutex);
  const std::vector<compiler::Port>& ports = state_->program->program.inputs;
  if (index >= ports.size()) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("the program has {} inputs; there is no input {}.", ports.size(), index));
  }
  check_input(state_->program->program.sizes, ports[index], value);
  state_->inputs[index] = std::move(value);
}

void Job::change_program(const LoadedProgram& program) {
  const Lock lock(state_->context->device->mutex);
  const ProgramState& other = *program.state_;
  if (state_->phase == JobState::Phase::kRunning) {
    throw Error(ErrorCode::kWrongOrder, "cannot change the program of a job in flight; wait for its end first.");
  }
  const compiler::Program& now = state_->program->program;
  if (other.context != state_->context || !alike(now.inputs, other.program.inputs) ||
      !alike(now.outputs, other.program.outputs)) {
    throw Error(ErrorCode::kBadOption,
                "the program is of another context, or has other inputs or outputs than the job; create a job of it.");
  }
  state_->program = program.state_;
}

RunResult Job::run() {
  start();
  while (!wait(std::chrono::hours(1))) {
  }
  return result();
}

void Job::start() {
  ContextState& context = *state_->context;
  for (;;) {
    {
      const Lock lock(context.device->mutex);
      if (state_->start()) return;
    }
    static_cast<void>(context.device->await(context.quiet, std::chrono::hours(1)));
  }
}

bool Job::wait(std::chrono::nanoseconds timeout) {
  DeviceState& device = *state_->context->device;
  {
    const Lock lock(device.mutex);
    if (state_->collect()) return true;
  }
  if (!device.await(state_->ended, timeout)) return false;
  const Lock lock(device.mutex);
  return state_->collect();
}

void Job::on_complete(std::function<void()> function) {
  DeviceState& device = *state_->context->device;
  std::function<void()> before;  // what it holds may end with it, without the lock
  {
    const Lock lock(device.mutex);
    before.swap(state_->on_complete);
  }
  device.completions.forget(state_.get());
  if (!function) return;
  const Lock lock(device.mutex);
  device.completions.start();
  state_->on_complete = std::move(function);
}

void Job::cancel() {
  DeviceState& device = *state_->context->device;
  const Lock lock(device.mutex);
  if (state_->phase == JobState::Phase::kRunning) device.link->cancel(*state_);
}

uint64_t Job::commands_done() const {
  const Lock lock(state_->context->device->mutex);
  return state_->commands_done();
}

const RunResult& Job::result() const {
  const Lock lock(state_->context->device->mutex);
  if (state_->phase != JobState::Phase::kDone) {
    throw Error(ErrorCode::kWrongOrder, "the job has no result: it has not ended, or it failed.");
  }
  return state_->result;
}

const std::vector<graph::Value>& Job::outputs() const {
  static_cast<void>(result());
  return state_->outputs;
}

const graph::Value& Job::output(std::string_view name) const {
  const std::vector<graph::Value>& values = outputs();
  const Lock lock(state_->context->device->mutex);
  return values[find_port(state_->program->program.outputs, name, "output")];
}

}  // namespace npu::runtime
