// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/bins/float_bins.h"

#include <algorithm>
#include <iterator>
#include <ostream>
#include <utility>

#include "driver/graph/analyse.h"
#include "driver/graph/float_format.h"
#include "driver/graph/operators.h"

namespace npu::test {
namespace {

using graph::DType;
using graph::Op;

constexpr DType kFormats[] = {DType::kFp32, DType::kFp16, DType::kBf16, DType::kFp8E4M3, DType::kFp8E5M2};
constexpr Op kControl[] = {Op::kCondIf, Op::kWhileLoop};

std::string bin(Op op, const std::string& types) { return std::string(name(op)) + " " + types; }

bool has_floats(const graph::TypeRow& row) {
  return std::ranges::any_of(row.types, [](DType type) { return graph::float_format(type).has_value(); });
}

}  // namespace

// Constants are no operators that run.
FloatBins::FloatBins() {
  for (uint32_t i = 1; i < graph::kTensorOpCount; ++i) {
    const graph::OperatorInfo& entry = graph::info(static_cast<Op>(i));
    for (const graph::TypeRow& row : entry.types) {
      if (has_floats(row) && entry.op != Op::kConst) bins_[bin(entry.op, describe_row(entry, row))] = 0;
    }
  }
  for (const Op op : kControl) {
    for (const DType type : kFormats) bins_[bin(op, std::string(name(type)))] = 0;
  }
}

void FloatBins::add(const graph::Graph& graph, const graph::Operator& op) {
  if (std::ranges::find(kControl, op.op) != std::end(kControl)) {
    for (const DType type : kFormats) {
      const bool has =
          std::ranges::any_of(op.inputs, [&](graph::TensorId id) { return graph.main().tensors[id].type == type; });
      if (has) ++bins_[bin(op.op, std::string(name(type)))];
    }
    return;
  }
  const graph::TypeRow* row = type_row(graph, graph.main(), op);
  if (row != nullptr && has_floats(*row)) ++bins_[bin(op.op, describe_row(graph::info(op.op), *row))];
}

uint64_t FloatBins::count(const std::string& bin) const { return bins_.at(bin); }

std::vector<std::string> FloatBins::missed() const {
  std::vector<std::string> missed;
  for (const auto& [bin, count] : bins_) {
    if (count == 0) missed.push_back(bin);
  }
  return missed;
}

void FloatBins::print(std::ostream& out) const {
  constexpr size_t kLeast = 8;
  std::vector<std::pair<uint64_t, std::string>> least;
  for (const auto& [bin, count] : bins_) least.emplace_back(count, bin);
  std::ranges::sort(least);
  out << bins_.size() << " operators and combinations of types with floating point; least often:\n";
  for (size_t i = 0; i < kLeast; ++i) out << "  " << least[i].first << " " << least[i].second << "\n";
}

}  // namespace npu::test
