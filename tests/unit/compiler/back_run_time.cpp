// SPDX-License-Identifier: Apache-2.0
// Modules whose parameter blocks and tables come at run time.
#include <utility>

#include "driver/compiler/parameter_block.h"
#include "tests/unit/compiler/back_modules.h"

namespace npu::compiler::testing {
namespace {

// Gives each block of a step a buffer, and the steps that fill it.
class RunTimeBlocks {
 public:
  RunTimeBlocks(Module& module, uint32_t layer, std::vector<Step>& before)
      : module_(module), layer_(layer), before_(before) {}

  void operator()(MxuStep& step) { step.block = made(bytes_of_params(step.params)); }
  void operator()(PoolStep& step) {
    if (step.mode != contract::PoolMode::kAvg) return;
    Params params;
    params.header.input_zp = step.input_zp;
    params.header.output_zp = step.output_zp;
    step.block = made(bytes_of_params(params));
  }
  void operator()(EwiseStep& step) {
    for (EwiseStep::Operand& operand : step.operands) {
      if (operand.blob) operand.view = made(module_.buffers[operand.view.buffer].data);
    }
  }
  template <class Other>
  void operator()(Other&) {}

 private:
  View made(std::vector<uint8_t> bytes) {
    const auto size = static_cast<int64_t>(bytes.size());
    const auto first = static_cast<BufferId>(module_.buffers.size());
    module_.buffers.push_back({"known", BufferKind::kConstant, bytes.size(), std::move(bytes)});
    module_.buffers.push_back({"made", BufferKind::kIntermediate, static_cast<uint64_t>(size), {}});
    CopyStep copy;
    copy.src = {first, 0, contract::Element::kI8, {size}, {1}};
    copy.dst = {first + 1, 0, contract::Element::kI8, {size}, {1}};
    before_.push_back({layer_, copy});
    return copy.dst;
  }

  Module& module_;
  const uint32_t layer_;
  std::vector<Step>& before_;
};

}  // namespace

Module with_run_time_blocks(const Module& module) {
  Module result = module;
  std::vector<Step> steps;
  for (Step& step : result.steps) {
    std::visit(RunTimeBlocks(result, step.layer, steps), step.work);
    steps.push_back(std::move(step));
  }
  result.steps = std::move(steps);
  return result;
}

}  // namespace npu::compiler::testing
