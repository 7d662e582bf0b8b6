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

ContextState::~ContextState() {
  const Lock lock(device->mutex);
  try {
    device->variables.clear_all(owner);
  } catch (const std::exception&) {
    // The device cannot be reached any more, so its table does not matter.
  }
}

void ContextState::require_quiet(const std::string& call) const {
  if (device->running != nullptr && device->running->program->context.get() == this) {
    throw Error(ErrorCode::kWrongOrder,
                fmt::format("cannot {} while a job of the context runs; wait for its end first.", call));
  }
}

uint16_t Context::owner() const { return state_->owner; }

LoadedProgram Context::load(compiler::Program program) {
  const Lock lock(state_->device->mutex);
  state_->device->require_idle("load a program");
  return LoadedProgram(std::make_shared<ProgramState>(state_, std::move(program)));
}

std::vector<VariableInfo> Context::variables() const {
  const Lock lock(state_->device->mutex);
  return state_->device->variables.list(state_->owner);
}

graph::Value Context::read_variable(std::string_view identity) const {
  const Lock lock(state_->device->mutex);
  state_->device->require_idle("read a variable");
  const VariableInfo info = find_variable(*state_, identity);
  graph::Value value{info.type, info.shape, std::vector<uint8_t>(info.bytes)};
  state_->device->hal->read_window(Window::kPersistent, info.offset, value.bytes);
  return value;
}

void Context::write_variable(std::string_view identity, const graph::Value& value) {
  const Lock lock(state_->device->mutex);
  state_->device->require_idle("write a variable");
  const VariableInfo info = find_variable(*state_, identity);
  if (value.type != info.type || value.shape != info.shape || value.bytes.size() != info.bytes) {
    throw Error(ErrorCode::kVariableMismatch,
                fmt::format("variable {} is {}{}, not {}{}.", graph::in_quotes(identity), graph::name(info.type),
                            graph::to_string(info.shape), graph::name(value.type), graph::to_string(value.shape)));
  }
  state_->device->hal->write_window(Window::kPersistent, info.offset, value.bytes);
  state_->device->variables.mark_written(info.index);
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
