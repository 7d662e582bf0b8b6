#include <fmt/format.h>

#include <exception>

#include "driver/graph/text.h"
#include "driver/runtime/device_state.h"
#include "driver/runtime/runtime.h"

namespace npu::runtime {
namespace {

using contract::ErrorCode;

VariableInfo find_variable(const ContextState& context, std::string_view identity) {
  std::optional<VariableInfo> info = context.device->variables.find(context.owner, identity);
  if (!info) {
    throw Error(
        ErrorCode::kVariableUndeclared,
        fmt::format("this context has no variable {}; load a program that declares it.", graph::in_quotes(identity)));
  }
  return *std::move(info);
}

}  // namespace

ContextState::ContextState(std::shared_ptr<DeviceState> device_state, uint16_t id,
                           const ContextOptions& context_options)
    : device(std::move(device_state)),
      owner(id),
      options(context_options),
      link_context(device->link->open_context(id, context_options.priority)) {}

ContextState::~ContextState() {
  const Lock lock(device->mutex);
  const auto attempt = [](auto action) {
    try {
      action();
    } catch (const std::exception&) {
      // The device cannot be reached any more, so what it still holds does not matter.
    }
  };
  attempt([&] { device->variables.clear_all(owner); });
  attempt([&] { device->link->close_context(link_context); });
}

void ContextState::require_quiet(const std::string& call) const {
  if (jobs_in_flight > 0) {
    throw Error(ErrorCode::kWrongOrder,
                fmt::format("cannot {} while a job of the context is in flight; wait for its end first.", call));
  }
}

void ContextState::job_started() {
  ++device->jobs_in_flight;
  ++jobs_in_flight;
  quiet = false;
}

void ContextState::job_ended() {
  --device->jobs_in_flight;
  quiet = --jobs_in_flight == 0;
}

uint16_t Context::owner() const { return state_->owner; }

LoadedProgram Context::load(compiler::Program program) {
  const Lock lock(state_->device->mutex);
  return LoadedProgram(std::make_shared<ProgramState>(state_, std::move(program)));
}

std::vector<VariableInfo> Context::variables() const {
  const Lock lock(state_->device->mutex);
  return state_->device->variables.list(state_->owner);
}

graph::Value Context::read_variable(std::string_view identity) const {
  const Lock lock(state_->device->mutex);
  state_->require_quiet("read a variable");
  const VariableInfo info = find_variable(*state_, identity);
  return {info.type, info.shape, state_->device->variables.read(info.index)};
}

void Context::write_variable(std::string_view identity, const graph::Value& value) {
  const Lock lock(state_->device->mutex);
  state_->require_quiet("write a variable");
  const VariableInfo info = find_variable(*state_, identity);
  if (value.type != info.type || value.shape != info.shape || value.bytes.size() != info.bytes) {
    throw Error(ErrorCode::kVariableMismatch,
                fmt::format("variable {} is {}{}, not {}{}.", graph::in_quotes(identity), graph::name(info.type),
                            graph::to_string(info.shape), graph::name(value.type), graph::to_string(value.shape)));
  }
  state_->device->variables.write(info.index, value.bytes, "host");
}

void Context::clear() {
  const Lock lock(state_->device->mutex);
  state_->require_quiet("clear variables");
  state_->device->variables.clear_all(state_->owner);
}

void Context::clear(std::string_view identity) {
  const Lock lock(state_->device->mutex);
  state_->require_quiet("clear a variable");
  const VariableInfo info = find_variable(*state_, identity);
  state_->device->variables.clear(state_->owner, info.identity);
}

}  // namespace npu::runtime
