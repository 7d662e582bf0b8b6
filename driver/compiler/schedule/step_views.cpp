// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/schedule/step_views.h"

#include <utility>

namespace npu::compiler::backend {
namespace {

// For Step and const Step.
template <class V, class AnyStep>
std::vector<StepView<V>> collect(AnyStep& step) {
  std::vector<StepView<V>> out;
  if (auto* mxu = std::get_if<MxuStep>(&step.work)) {
    out = {{&mxu->src, false}, {&mxu->weights, false}, {&mxu->dst, true}};
  } else if (auto* ewise = std::get_if<EwiseStep>(&step.work)) {
    for (auto& o : ewise->operands) out.push_back({&o.view, o.result});
  } else if (auto* pool = std::get_if<PoolStep>(&step.work)) {
    out = {{&pool->src, false}, {&pool->dst, true}};
  } else if (auto* reduce = std::get_if<ReduceStep>(&step.work)) {
    out = {{&reduce->src, false}, {&reduce->dst, true}};
  } else if (auto* copy = std::get_if<CopyStep>(&step.work)) {
    if (!copy->fill) out.push_back({&copy->src, false});
    out.push_back({&copy->dst, true});
  }
  return out;
}

}  // namespace

std::vector<StepView<View>> views_of(Step& step) { return collect<View>(step); }
std::vector<StepView<const View>> views_of(const Step& step) { return collect<const View>(step); }

void drop_empty_layers(Module& module) {
  std::vector<bool> used(module.layers.size(), false);
  for (const Step& step : module.steps) used[step.layer] = true;
  std::vector<uint32_t> number(module.layers.size());
  std::vector<Layer> layers;
  for (size_t i = 0; i < used.size(); ++i) {
    number[i] = static_cast<uint32_t>(layers.size());
    if (used[i]) layers.push_back(std::move(module.layers[i]));
  }
  for (Step& step : module.steps) step.layer = number[step.layer];
  module.layers = std::move(layers);
}

}  // namespace npu::compiler::backend
