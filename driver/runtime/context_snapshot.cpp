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
#include "driver/runtime/variable_sizes.h"

namespace npu::runtime {
namespace {

using contract::ErrorCode;

struct Declaration {
  graph::DType type;
  VariableSizes sizes;                 // open where a snapshot may bring any
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
    declarations[slot.identity] = {slot.type, {slot.declared, slot.sizes.largest}, nullptr};
  }
  for (const ProgramState* program : context.programs) {
    for (const compiler::Variable& variable : program->program.variables) {
      const Declaration wanted{variable.type, sizes_of(variable), &variable};
      Declaration& known = declarations.try_emplace(variable.identity, wanted).first->second;
      if (known.variable == nullptr) known.variable = &variable;
      if (known.type == wanted.type && agree(known.sizes, wanted.sizes)) {
        known.sizes = merged(known.sizes, wanted.sizes);
        continue;
      }
      throw Error(ErrorCode::kVariableMismatch,
                  fmt::format("loaded programs of this context declare variable {} as {} and as {}; destroy those that "
                              "do not fit to the snapshot.",
                              graph::in_quotes(variable.identity), describe(known.type, known.sizes),
                              describe(wanted.type, wanted.sizes)));
    }
  }
  return declarations;
}

// As it was saved, and open where it had no size.
VariableSizes sizes_of(const SnapshotVariable& saved) {
  return {saved.shape, saved.largest.empty() ? saved.shape : saved.largest};
}

// Whether they are one variable, but for sizes that one of both leaves open.
bool are_alike(const SnapshotVariable& saved, const Declaration& declaration) {
  const graph::Shape& declared = declaration.sizes.shape;
  if (saved.type != declaration.type || saved.shape.size() != declared.size()) return false;
  return std::equal(saved.shape.begin(), saved.shape.end(), declared.begin(),
                    [](int64_t own, int64_t other) { return own == other || own == kOpenSize || other == kOpenSize; });
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
      continue;
    }
    const SnapshotVariable& there = *found->second;
    const bool alike = are_alike(there, declaration);
    // Without a value it has no size either.
    if (alike && (!there.is_written || agree(sizes_of(there), declaration.sizes))) continue;
    throw Error(alike ? ErrorCode::kSizeOutOfBounds : ErrorCode::kBadSnapshot,
                fmt::format("variable {} is {} in the snapshot, but declared as {}; {}.", graph::in_quotes(identity),
                            describe(there.type, sizes_of(there)), describe(declaration.type, declaration.sizes),
                            alike ? "compile for wider bounds, or clear it in the snapshot (npu state clear)"
                                  : "restore a snapshot of the same networks"));
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
      variable.largest = std::move(info.largest);
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
      const Declaration& declaration = declarations.at(saved.identity);
      const compiler::Variable* declared = declaration.variable;
      if (saved.is_written) {
        variables.bind(index, merged(declaration.sizes, sizes_of(saved)).shape);
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
