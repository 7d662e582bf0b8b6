// SPDX-License-Identifier: Apache-2.0
#include "sim/reference/execution.h"

#include <fmt/format.h>

#include "driver/graph/analyse.h"
#include "driver/graph/level.h"
#include "driver/graph/text.h"
#include "sim/reference/block_run.h"

namespace npu::reference {
namespace {

using contract::ErrorCode;

int64_t saturating_add(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

int64_t saturating_times(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

// What an operator costs: the elements that it reads and writes, its products, and the elements of its windows.
int64_t work_of(const graph::Block& block, const graph::Operator& op) {
  const auto elements = [&](graph::TensorId id) {
    return graph::element_count(block.tensors[id].shape).value_or(INT64_MAX);
  };
  int64_t work = 1;
  for (const auto* list : {&op.inputs, &op.outputs}) {
    for (const graph::TensorId id : *list) {
      work = saturating_add(work, elements(id));
    }
  }
  switch (op.op) {
    case graph::Op::kAvgPool2d:
    case graph::Op::kMaxPool2d:
      for (const int32_t size : op.attributes.kernel) {
        work = saturating_times(work, size);
      }
      return work;
    case graph::Op::kFft2d:
    case graph::Op::kRfft2d: {
      const graph::Shape& shape = block.tensors[op.inputs[0]].shape;
      return saturating_times(work, saturating_times(shape[1], shape[2]));
    }
    default:
      return saturating_add(work, graph::macs(block, op));
  }
}

}  // namespace

Execution::Execution(const graph::Graph& graph, Context& context, const Options& options)
    : graph_(graph), options_(options), variables_(context, options.most_bytes) {
  for (const graph::Region& region : graph.regions) {
    if (!region.blocks.empty()) {
      regions_.emplace(region.name, &region.blocks.front());
    }
  }
  variables_.declare_tensors(graph);
}

std::vector<graph::Value> Execution::run_region(const Call& call, const std::string& region,
                                                const std::vector<const graph::Value*>& inputs) {
  const auto found = regions_.find(region);
  if (found == regions_.end()) {
    call.fail(ErrorCode::kBadStructure, fmt::format("there is no region {}", graph::in_quotes(region)));
  }
  const int64_t deepest = graph::limits(graph::Level::kNone).nesting;
  if (depth_ >= deepest) {
    call.fail(ErrorCode::kBadStructure, fmt::format("control flow is nested deeper than {}", deepest));
  }
  ++depth_;
  try {
    auto results = BlockRun(*this, *found->second, inputs).execute({});
    --depth_;
    return results;
  } catch (const Error& error) {
    --depth_;
    throw Error(error.code(), depth_ > 0 ? error.what() : fmt::format("{} (in {})", error.what(), call.describe()));
  }
}

void Execution::count_iteration(const Call& call) {
  if (++iterations_ > options_.most_iterations) {
    call.fail(
        ErrorCode::kBudgetExceeded,
        fmt::format("control flow takes more than the limit of {} iterations and branches", options_.most_iterations));
  }
}

void Execution::count_work(const graph::Block& block, const graph::Operator& op) {
  work_ = saturating_add(work_, work_of(block, op));
  if (work_ > options_.most_work) {
    throw Error(ErrorCode::kBudgetExceeded,
                fmt::format("{}: the execution takes more than the limit of {} elements and products",
                            Call(op, block, {}, {}).describe(), options_.most_work));
  }
}

void Execution::take_memory(int64_t bytes, const graph::Tensor& tensor) {
  require_memory(bytes, tensor);
  bytes_ += bytes;
}

void Execution::require_memory(int64_t bytes, const graph::Tensor& tensor) const {
  if (bytes > options_.most_bytes - bytes_) {
    throw Error(ErrorCode::kBudgetExceeded,
                fmt::format("at tensor '{}' the graph's values need more than the reference's limit of {} MiB",
                            tensor.name, options_.most_bytes >> 20));
  }
}

}  // namespace npu::reference
