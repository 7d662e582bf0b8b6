// SPDX-License-Identifier: Apache-2.0
// The software reference beside a run: gives the expected outputs and keeps count of the comparison.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "driver/graph/value.h"
#include "sim/reference/reference.h"
#include "sim/report/report.h"
#include "sim/workload/network.h"

namespace npu::workload {

// Adds the comparison of an output with the reference's to a result. The first element that differs, of floating point
// by more than most_units() (float_check.h); -1: none.
int64_t compare_output(const graph::Value& got, const graph::Value& want, report::CheckResult& result);
// What it says of floating point, as a line under the others; empty where there is none.
[[nodiscard]] std::string float_line(const report::CheckResult& check);

class Oracle {
 public:
  // Variables start as in `start`, cleared where that has none. `network` outlives the oracle.
  Oracle(const Network& network, bool zero_init, reference::Context start = {});

  // The next invocation. Throws what reference::run throws, with the number of the invocation in front.
  std::vector<graph::Value> run(const std::vector<graph::Value>& inputs) { return run(network_, inputs); }
  // The same of the network with other sizes: with_sizes().
  std::vector<graph::Value> run(const Network& network, const std::vector<graph::Value>& inputs);
  // Runs the next invocation and compares every element of every output.
  void check(const std::vector<graph::Value>& inputs, const std::vector<graph::Value>& outputs) {
    check(network_, inputs, outputs);
  }
  void check(const Network& network, const std::vector<graph::Value>& inputs, const std::vector<graph::Value>& outputs);
  [[nodiscard]] const report::CheckResult& result() const { return result_; }
  [[nodiscard]] const reference::Context& state() const { return context_; }

 private:
  const Network& network_;
  reference::Context context_;
  report::CheckResult result_;
  int64_t invocation_ = 0;  // the next one
};

}  // namespace npu::workload
