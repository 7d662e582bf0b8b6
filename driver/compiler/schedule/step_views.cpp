// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/schedule/step_views.h"

#include <type_traits>
#include <utility>

#include "driver/compiler/schedule/view.h"
#include "hw/contract/overloaded.h"

namespace npu::compiler::backend {
namespace {

// Work, const where the step is.
template <class Work, class AnyStep>
using Of = std::conditional_t<std::is_const_v<AnyStep>, const Work, Work>;

// For Step and const Step.
template <class V, class AnyStep>
std::vector<StepView<V>> collect(AnyStep& step) {
  std::vector<StepView<V>> out;
  std::visit(Overloaded{[&](Of<MxuStep, AnyStep>& mxu) {
                          out = {{&mxu.src, false}, {&mxu.weights, false}, {&mxu.dst, true}};
                          if (mxu.block) out.push_back({&*mxu.block, false});
                          if (mxu.residual) out.push_back({&mxu.residual->view, false});
                        },
                        [&](Of<EwiseStep, AnyStep>& ewise) {
                          for (auto& o : ewise.operands) out.push_back({&o.view, o.result});
                        },
                        [&](Of<PoolStep, AnyStep>& pool) {
                          out = {{&pool.src, false}, {&pool.dst, true}};
                          if (pool.block) out.push_back({&*pool.block, false});
                        },
                        [&](Of<ReduceStep, AnyStep>& reduce) {
                          out = {{&reduce.src, false}, {&reduce.dst, true}};
                        },
                        [&](Of<CopyStep, AnyStep>& copy) {
                          if (!copy.fill) out.push_back({&copy.src, false});
                          out.push_back({&copy.dst, true});
                        },
                        [&](Of<GatherStep, AnyStep>& gather) {
                          out = {{&gather.table, false}, {&gather.index, false}, {&gather.rows, !gather.scatter}};
                          if (gather.scatter) out.push_back({&gather.table, true});  // what it leaves stays
                        },
                        [](const DeclareStep&) {}, [](const LabelStep&) {},
                        [&](Of<BranchStep, AnyStep>& branch) {
                          switch (branch.mode) {
                            case contract::BranchMode::kAlways:
                              break;
                            case contract::BranchMode::kIfFalse:
                              out = {{&branch.condition, false}};
                              break;
                            case contract::BranchMode::kRepeat:
                              out = {{&branch.counter, false}, {&branch.counter, true}};
                              break;
                          }
                        }},
             step.work);
  return out;
}

}  // namespace

std::vector<StepView<View>> views_of(Step& step) { return collect<View>(step); }
std::vector<StepView<const View>> views_of(const Step& step) { return collect<const View>(step); }

int64_t rows_bytes(const GatherStep& step) { return elements(step.rows.dims) * element_size(step.rows); }

int64_t moved_bytes(const Step& step, const StepView<const View>& view) {
  const auto* gather = std::get_if<GatherStep>(&step.work);  // one kind: all others move their views whole
  if (gather == nullptr || view.view != &gather->table) return packed_bytes(*view.view, whole(*view.view), true);
  return gather->scatter == view.result ? rows_bytes(*gather) : 0;  // what a scatter leaves is not moved
}

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
