// SPDX-License-Identifier: Apache-2.0
// Context::snapshot and Context::restore.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "driver/graph/text.h"
#include "driver/runtime/device_state.h"
#include "driver/runtime/runtime.h"

namespace npu::runtime {
namespace {

using contract::ErrorCode;

struct Declaration {
  graph::DType type;
  graph::Shape shape;
  const compiler::Variable* variable;  // of a loaded program; null: the context holds what no program declares
};
using Declarations = std::map<std::string, Declaration, std::less<>>;

void list(std::string& names, std::string_view name) { names += (names.empty() ? "" : ", ") + graph::in_quotes(name); }

// Of what the context holds, and of what its programs will declare. Throws Error(kVariableMismatch) for two that do not
// fit together.
Declarations declarations_of(const ContextState& context) {
  Declarations declarations;
  const VariableManager& variables = context.device->variables;
  for (const uint32_t index : variables.of_owner(context.owner)) {
    const VariableSlot& slot = variables.slot(index);
    declarations[slot.identity] = {slot.type, slot.shape, nullptr};
  }
  for (const ProgramState* program : context.programs) {
    for (const compiler::Variable& variable : program->program.variables) {
      const Declaration wanted{variable.type, variable.shape, &variable};
      Declaration& known = declarations.try_emplace(variable.identity, wanted).first->second;
      if (known.variable == nullptr) known.variable = &variable;
      if (known.type == wanted.type && known.shape == wanted.shape) continue;
      throw Error(ErrorCode::kVariableMismatch,
                  fmt::format("loaded programs of this context declare variable {} as {} and as {}; destroy those that "
                              "do not fit to the snapshot.",
                              graph::in_quotes(variable.identity), graph::describe_type(known.type, known.shape),
                              graph::describe_type(wanted.type, wanted.shape)));
    }
  }
  return declarations;
}

void check_fit(const Snapshot& snapshot, const Declarations& declarations) {
  std::string surplus, missing;
  std::map<std::string_view, const SnapshotVariable*> saved;
  for (const SnapshotVariable& variable : snapshot.variables) {
    saved[variable.identity] = &variable;
    if (!declarations.contains(variable.identity)) list(surplus, variable.identity);
  }
  for (const auto& [identity, declaration] : declarations) {
    const auto found = saved.find(identity);
    if (found == saved.end()) {
      list(missing, identity);
    } else if (found->second->type != declaration.type || found->second->shape != declaration.shape) {
      throw Error(
          ErrorCode::kBadSnapshot,
          fmt::format("variable {} is {} in the snapshot, but {} in this context; restore a snapshot of the "
                      "same networks.",
                      graph::in_quotes(identity), graph::describe_type(found->second->type, found->second->shape),
                      graph::describe_type(declaration.type, declaration.shape)));
    }
  }
  if (surplus.empty() && missing.empty()) return;
  std::string text;
  if (!surplus.empty()) text = fmt::format("no loaded program declares {} of the snapshot", surplus);
  if (!missing.empty()) text += fmt::format("{}the snapshot has no {}", text.empty() ? "" : ", and ", missing);
  throw Error(ErrorCode::kBadSnapshot, text + "; restore a snapshot of the same networks, after loading all of them.");
}

}  // namespace

Snapshot Context::snapshot(std::string label) const {
  const Lock lock(state_->device->mutex);
  return state_->use_variables([&] {
    state_->require_quiet("save variables");
    state_->require_state();
    Snapshot snapshot{std::move(label), {}, state_->owner};
    for (VariableInfo& info : state_->device->variables.list(state_->owner)) {
      SnapshotVariable variable;
      if (info.is_written) variable.bytes = state_->device->variables.read(info.index);
      variable.identity = std::move(info.identity);
      variable.tensor_name = std::move(info.tensor_name);
      variable.type = info.type;
      variable.shape = std::move(info.shape);
      variable.is_written = info.is_written;
      variable.last_writer = std::move(info.last_writer);
      variable.invocations = info.invocations;
      variable.place = info.in_dram ? StatePlace::kDram : StatePlace::kPersistentSram;
      snapshot.variables.push_back(std::move(variable));
    }
    std::sort(snapshot.variables.begin(), snapshot.variables.end(),
              [](const auto& a, const auto& b) { return a.identity < b.identity; });
    return snapshot;
  });
}

void Context::restore(const Snapshot& snapshot) {
  const Lock lock(state_->device->mutex);
  state_->use_variables([&] {
    state_->require_quiet("restore variables");
    state_->require_state();
    check_snapshot(snapshot);
    VariableManager& variables = state_->device->variables;
    variables.require_power("restore variables");
    variables.count_late();
    const Declarations declarations = declarations_of(*state_);
    check_fit(snapshot, declarations);
    // All at once first, so that nothing is left of programs that do not fit together.
    std::vector<compiler::Variable> wanted;
    for (const ProgramState* program : state_->programs) {
      wanted.insert(wanted.end(), program->program.variables.begin(), program->program.variables.end());
    }
    static_cast<void>(variables.declare(state_->owner, wanted, state_->options));
    for (ProgramState* program : state_->programs) program->bind_variables();
    for (const SnapshotVariable& saved : snapshot.variables) {
      const uint32_t index = variables.find(state_->owner, saved.identity).value();
      const compiler::Variable* declared = declarations.at(saved.identity).variable;
      if (saved.is_written) {
        variables.write(index, saved.bytes, "snapshot");
        variables.set_invocations(index, saved.invocations);
      } else if (declared != nullptr) {
        variables.start_anew(index, *declared, state_->options);
      } else {
        variables.clear(state_->owner, saved.identity);
      }
    }
  });
}

}  // namespace npu::runtime
