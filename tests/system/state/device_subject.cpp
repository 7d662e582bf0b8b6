// SPDX-License-Identifier: Apache-2.0
#include "tests/system/state/device_subject.h"

#include "driver/graph/validate.h"

namespace npu::test {

DeviceSubject::DeviceSubject(runtime::Device device, const std::vector<Recipe>& recipes) : device_(std::move(device)) {
  for (const Recipe& recipe : recipes) {
    const graph::Graph graph = build(recipe);
    graph::validate(graph);
    compiler::Options options;
    options.schedule.persistent_bytes = recipe.persistent_bytes;
    compiled_.push_back(compiler::compile(graph, device_.capabilities(), options));
  }
}

void DeviceSubject::create(int context, const Rules& rules) {
  runtime::ContextOptions options;
  options.zero_init = rules.zero_init;
  options.double_buffer = rules.double_buffer;
  const auto losses = std::make_shared<std::vector<runtime::StateLoss>>();
  runtime::Context created = device_.create_context(options);
  created.on_state_lost([losses](const runtime::StateLoss& loss) { losses->push_back(loss); });
  contexts_.emplace(context, Open{created, losses, {}});
}

void DeviceSubject::load(int context, int program, size_t recipe) {
  Open& open = contexts_.at(context);
  open.programs.erase(program);
  open.programs.emplace(program, open.context.load(compiled_.at(recipe)).create_job());
}

runtime::Job& DeviceSubject::job(int context, int program, const std::vector<graph::Value>& inputs) {
  runtime::Job& job = contexts_.at(context).programs.at(program);
  for (size_t i = 0; i < inputs.size(); ++i) job.set_input(i, inputs[i]);
  return job;
}

std::vector<graph::Value> DeviceSubject::run(int context, int program, const std::vector<graph::Value>& inputs) {
  runtime::Job& started = job(context, program, inputs);
  static_cast<void>(started.run());
  return started.outputs();
}

std::vector<Listed> DeviceSubject::list(int context) {
  std::vector<Listed> result;
  for (const runtime::VariableInfo& info : contexts_.at(context).context.variables()) {
    result.push_back(
        {info.identity, {info.type, info.shape}, info.is_written, info.torn, info.double_buffered, info.in_dram});
  }
  return result;
}

graph::Value DeviceSubject::read(int context, const std::string& identity) {
  return contexts_.at(context).context.read_variable(identity);
}

void DeviceSubject::write(int context, const std::string& identity, const graph::Value& value) {
  contexts_.at(context).context.write_variable(identity, value);
}

}  // namespace npu::test
