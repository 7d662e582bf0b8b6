// SPDX-License-Identifier: Apache-2.0
// The device with its driver, and what only they have: contexts that are kept apart, resets, jobs in flight.
#pragma once

#include <memory>
#include <utility>

#include "driver/compiler/compile.h"
#include "driver/runtime/runtime.h"
#include "tests/system/state/subject.h"

namespace npu::test {

class DeviceSubject : public Subject {
 public:
  DeviceSubject(runtime::Device device, const std::vector<Recipe>& recipes);

  [[nodiscard]] bool has_zero_init() const override { return true; }
  [[nodiscard]] size_t most_contexts() const override { return 15; }
  void create(int context, const Rules& rules) override;
  void destroy(int context) override { contexts_.erase(context); }
  void load(int context, int program, size_t recipe) override;
  void unload(int context, int program) override { contexts_.at(context).programs.erase(program); }
  std::vector<graph::Value> run(int context, int program, const std::vector<graph::Value>& inputs) override;
  std::vector<Listed> list(int context) override;
  graph::Value read(int context, const std::string& identity) override;
  void write(int context, const std::string& identity, const graph::Value& value) override;
  void clear(int context) override { contexts_.at(context).context.clear(); }
  void clear(int context, const std::string& identity) override { contexts_.at(context).context.clear(identity); }

  [[nodiscard]] runtime::Device& device() { return device_; }
  [[nodiscard]] runtime::Context& context(int context) { return contexts_.at(context).context; }
  // What the context was told of losses since the last call.
  [[nodiscard]] std::vector<runtime::StateLoss> take_losses(int context) {
    return std::exchange(*contexts_.at(context).losses, {});
  }
  // Of a recipe, in the order in which its program declares them.
  [[nodiscard]] const std::vector<compiler::Variable>& variables(size_t recipe) const {
    return compiled_.at(recipe).variables;
  }
  // A job with its inputs set.
  [[nodiscard]] runtime::Job& job(int context, int program, const std::vector<graph::Value>& inputs);

 private:
  struct Open {
    runtime::Context context;
    std::shared_ptr<std::vector<runtime::StateLoss>> losses;
    std::map<int, runtime::Job> programs;
  };

  runtime::Device device_;
  std::vector<compiler::Program> compiled_;  // by recipe
  std::map<int, Open> contexts_;
};

}  // namespace npu::test
