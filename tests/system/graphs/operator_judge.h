// SPDX-License-Identifier: Apache-2.0
// Judges a run of a graph's open form, operator by operator: each gets the device's own operands.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "driver/graph/graph.h"
#include "tests/system/graphs/open_graph.h"
#include "tests/unit/bins/float_bins.h"

namespace npu::test {

// Of all graphs together.
struct Judgements {
  int64_t operators = 0, undefined = 0;           // undefined: the results are open for these operands
  int64_t compared = 0, rounded = 0, finite = 0;  // elements; finite: of floating point, numbers
  std::map<std::string, double> worst;            // by operator and format: the largest share of the bound
  FloatBins bins;
};

class OperatorJudge {
 public:
  // Both outlive it. `lanes` as in Judged.
  OperatorJudge(const graph::Graph& graph, Judgements& judgements, int64_t lanes = 0);

  // The invocations, in their order: variables go on. What is wrong with the first operator that is; empty: nothing.
  [[nodiscard]] std::string judge(const Values& values);

 private:
  std::string judge_operator(const graph::Operator& op, const Values& values);
  std::string judge_results(const graph::Operator& op, const Values& values);
  std::string judge_result(const graph::Operator& op, size_t result, const Values& values, const graph::Value& want,
                           const graph::Value& magnitudes);

  const graph::Graph& graph_;
  Judgements& all_;
  const int64_t lanes_;
  std::map<std::string, graph::Value> variables_;  // by identity: what was written last
};

}  // namespace npu::test
