// SPDX-License-Identifier: Apache-2.0
#include "driver/capi/sized_job.h"

#include <fmt/format.h>

#include <utility>

#include "driver/graph/text.h"
#include "driver/runtime/sizes.h"
#include "hw/contract/error.h"

namespace npu::capi {

void SizedJob::set_input(size_t index, graph::Value value) {
  shapes_.at(index) = value.shape;
  fresh_.at(index) = std::move(value);
}

void SizedJob::start() {
  std::vector<graph::Shape> shapes;
  for (size_t i = 0; i < shapes_.size(); ++i) {
    const compiler::Port& port = programs_->inputs()[i].largest;
    if (!shapes_[i]) {
      throw Error(contract::ErrorCode::kBadInput, fmt::format("input {} ({}) was not set.", graph::in_quotes(port.name),
                                                              runtime::describe_port(programs_->sizes(), port)));
    }
    shapes.push_back(*shapes_[i]);
  }
  programs_->start(shapes, [&](const runtime::LoadedProgram& program) {
    // Before the job looks at one input after the other: sizes that do not fit each other are within the bounds.
    static_cast<void>(runtime::sizes_of(program.program(), shapes));
    for (size_t i = 0; i < fresh_.size(); ++i) {
      if (fresh_[i]) runtime::check_input(program.program().sizes, program.program().inputs[i], *fresh_[i]);
    }
    job_.change_program(program);
    for (size_t i = 0; i < fresh_.size(); ++i) {
      if (!fresh_[i]) continue;
      job_.set_input(i, std::move(*fresh_[i]));
      fresh_[i].reset();
    }
    job_.start();
  });
}

}  // namespace npu::capi
