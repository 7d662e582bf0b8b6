// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <exception>
#include <optional>
#include <utility>

#include "driver/graph/text.h"
#include "driver/runtime/device_state.h"
#include "driver/runtime/runtime.h"
#include "driver/runtime/variable_sizes.h"

namespace npu::runtime {
namespace {

using contract::ErrorCode;

// Index of a variable of a context that is quiet and has lost nothing.
uint32_t find_variable(const ContextState& context, std::string_view identity, const std::string& call) {
  context.require_quiet(call);
  context.require_state();
  const std::optional<uint32_t> index = context.device->variables.find(context.owner, identity);
  if (!index) {
    throw Error(
        ErrorCode::kVariableUndeclared,
        fmt::format("this context has no variable {}; load a program that declares it, or run it after a clear.",
                    graph::in_quotes(identity)));
  }
  return *index;
}

}  // namespace

ContextState::ContextState(std::shared_ptr<DeviceState> device_state, uint16_t id,
                           const ContextOptions& context_options)
    : device(std::move(device_state)),
      owner(id),
      options(context_options),
      link_context(device->link->open_context(id, context_options.priority)) {
  device->open_contexts.push_back(this);
}

ContextState::~ContextState() {
  const Lock lock(device->mutex);
  const auto attempt = [](auto action) {
    try {
      action();
    } catch (const std::exception&) {
      // The device cannot be reached any more, so what it still holds does not matter.
    }
  };
  std::erase(device->open_contexts, this);
  device->losses.close(owner);
  attempt([&] { device->variables.clear_all(owner); });
  attempt([&] { device->link->close_context(link_context); });
}

void ContextState::require_quiet(const std::string& call) const {
  if (jobs_in_flight > 0) {
    throw Error(ErrorCode::kWrongOrder,
                fmt::format("cannot {} while a job of the context is in flight; wait for its end first.", call));
  }
}

void ContextState::require_no_stateful_job(const std::string& call) const {
  for (const ProgramState* loaded : programs) {
    if (loaded->in_flight == nullptr || loaded->program.variables.empty()) continue;
    throw Error(ErrorCode::kWrongOrder,
                fmt::format("cannot {} while a job that uses variables of the context is in flight; wait for its end, "
                            "or cancel it and wait, first.",
                            call));
  }
}

void ContextState::job_started() {
  ++device->jobs_in_flight;
  ++jobs_in_flight;
  quiet = false;
  device->completions.jobs_in_flight(device->jobs_in_flight);
}

void ContextState::job_ended() {
  --device->jobs_in_flight;
  quiet = --jobs_in_flight == 0;
  device->completions.jobs_in_flight(device->jobs_in_flight);
}

uint16_t Context::owner() const { return state_->owner; }

LoadedProgram Context::load(compiler::Program program) {
  const Lock lock(state_->device->mutex);
  const auto place = [&] { return LoadedProgram(std::make_shared<ProgramState>(state_, std::move(program))); };
  return program.variables.empty() ? place() : state_->use_variables(place);
}

std::vector<VariableInfo> Context::variables() const {
  const Lock lock(state_->device->mutex);
  return state_->use_variables([&] {
    state_->require_state();
    return state_->device->variables.list(state_->owner);
  });
}

graph::Value Context::read_variable(std::string_view identity) const {
  const Lock lock(state_->device->mutex);
  return state_->use_variables([&] {
    const uint32_t index = find_variable(*state_, identity, "read a variable");
    const VariableSlot& slot = state_->device->variables.slot(index);
    std::vector<uint8_t> bytes = state_->device->variables.read(index);
    return graph::Value{slot.type, slot.sizes.shape, std::move(bytes)};
  });
}

void Context::write_variable(std::string_view identity, const graph::Value& value) {
  const Lock lock(state_->device->mutex);
  state_->use_variables([&] {
    const uint32_t index = find_variable(*state_, identity, "write a variable");
    const VariableSlot& slot = state_->device->variables.slot(index);
    const std::optional<int64_t> elements = graph::element_count(value.shape);
    if (value.type != slot.type || !agree(slot.sizes, {value.shape, value.shape}) || has_open(value.shape) ||
        !elements || value.bytes.size() != static_cast<uint64_t>(*elements * graph::machine_width(slot.type))) {
      throw Error(ErrorCode::kVariableMismatch,
                  fmt::format("variable {} is {}, not {}.", graph::in_quotes(identity), describe(slot.type, slot.sizes),
                              graph::describe_type(value.type, value.shape)));
    }
    if (const auto wrong = graph::find_out_of_range(value.type, value.bytes)) {
      throw Error(ErrorCode::kBadInput,
                  fmt::format("element {} for variable {} is {}, but {} holds {}.", wrong->index,
                              graph::in_quotes(identity), wrong->element, graph::name(value.type), wrong->range));
    }
    state_->device->variables.bind(index, value.shape);
    state_->device->variables.write(index, value.bytes, "host");
  });
}

void Context::clear() {
  const Lock lock(state_->device->mutex);
  state_->use_variables([&] {
    state_->require_quiet("clear variables");
    state_->require_state();
    state_->device->variables.require_power("clear variables");
    state_->device->variables.clear_all(state_->owner);
  });
}

void Context::clear(std::string_view identity) {
  const Lock lock(state_->device->mutex);
  state_->use_variables([&] {
    static_cast<void>(find_variable(*state_, identity, "clear a variable"));
    state_->device->variables.clear(state_->owner, identity);
  });
}

bool Context::state_lost() const {
  const Lock lock(state_->device->mutex);
  state_->device->look_at_persistent();
  return state_->device->losses.lost(state_->owner);
}

void Context::acknowledge_loss() {
  const Lock lock(state_->device->mutex);
  if (!state_->device->losses.lost(state_->owner)) return;
  state_->require_no_stateful_job("acknowledge a loss");
  state_->device->losses.acknowledge(state_->owner);
}

uint64_t Context::on_state_lost(StateListener listener) {
  const Lock lock(state_->device->mutex);
  return state_->device->losses.listen(state_->owner, std::move(listener));
}

void Context::remove_listener(uint64_t id) {
  const Lock lock(state_->device->mutex);
  state_->device->losses.remove_listener(state_->owner, id);
}

}  // namespace npu::runtime
