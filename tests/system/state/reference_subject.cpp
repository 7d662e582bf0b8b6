// SPDX-License-Identifier: Apache-2.0
#include "driver/graph/validate.h"
#include "sim/reference/reference.h"
#include "tests/system/state/subject.h"

namespace npu::test {
namespace {

class ReferenceSubject : public Subject {
 public:
  explicit ReferenceSubject(const std::vector<Recipe>& recipes) {
    for (const Recipe& recipe : recipes) {
      graphs_.push_back(build(recipe));
      graph::validate(graphs_.back());
    }
  }

  [[nodiscard]] bool has_zero_init() const override { return false; }
  [[nodiscard]] size_t most_contexts() const override { return SIZE_MAX; }
  void create(int context, const Rules& /*rules*/) override { contexts_[context] = {}; }
  void destroy(int context) override { contexts_.erase(context); }
  void load(int context, int program, size_t recipe) override { contexts_.at(context).programs[program] = recipe; }
  void unload(int context, int program) override { contexts_.at(context).programs.erase(program); }
  std::vector<graph::Value> run(int context, int program, const std::vector<graph::Value>& inputs) override {
    Context& c = contexts_.at(context);
    return reference::run(graphs_.at(c.programs.at(program)), inputs, c.state);
  }

  std::vector<Listed> list(int context) override {
    std::vector<Listed> result;
    for (const auto& [identity, state] : contexts_.at(context).state.variables) {
      result.push_back({identity, {state.value.type, state.value.shape}, state.is_written});
    }
    return result;
  }
  graph::Value read(int context, const std::string& identity) override {
    const reference::VariableState& state = find(context, identity);
    if (!state.is_written) throw Error(contract::ErrorCode::kVariableUnwritten, identity);
    return state.value;
  }
  void write(int context, const std::string& identity, const graph::Value& value) override {
    reference::VariableState& state = find(context, identity);
    if (Form{value.type, value.shape} != Form{state.value.type, state.value.shape}) {
      throw Error(contract::ErrorCode::kVariableMismatch, identity);
    }
    state = {value, true};
  }
  void clear(int context) override { contexts_.at(context).state.clear(); }
  void clear(int context, const std::string& identity) override {
    if (!contexts_.at(context).state.clear(identity)) throw Error(contract::ErrorCode::kVariableUndeclared, identity);
  }

 private:
  struct Context {
    reference::Context state;
    std::map<int, size_t> programs;
  };

  reference::VariableState& find(int context, const std::string& identity) {
    auto& variables = contexts_.at(context).state.variables;
    const auto found = variables.find(identity);
    if (found == variables.end()) throw Error(contract::ErrorCode::kVariableUndeclared, identity);
    return found->second;
  }

  std::vector<graph::Graph> graphs_;
  std::map<int, Context> contexts_;
};

}  // namespace

std::unique_ptr<Subject> make_reference(const std::vector<Recipe>& recipes) {
  return std::make_unique<ReferenceSubject>(recipes);
}

}  // namespace npu::test
