// SPDX-License-Identifier: Apache-2.0
// Networks of open sizes on the simulated device, through the C API and beside the reference.
#pragma once

#include <npu_sim.h>

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "driver/graph/graph.h"
#include "driver/graph/resolve.h"
#include "driver/graph/value.h"
#include "sim/reference/reference.h"
#include "tests/system/sized/open_networks.h"
#include "tests/unit/capi/calls.h"

namespace npu::test {

using Sizes = std::vector<int64_t>;  // one a symbol

// The device of this process, which can have one only: of the machine that NPU_CAPI_MACHINE names, or edge.
[[nodiscard]] npu_device* simulated_device();
[[nodiscard]] std::string simulated_machine();

// The network as a file.
[[nodiscard]] std::vector<uint8_t> file_of(const OpenNetwork& network);
[[nodiscard]] std::vector<npu_size_bounds> bounds_of(const OpenNetwork& network);
[[nodiscard]] Sizes random_sizes(const OpenNetwork& network, std::mt19937& random);

// A context with one network, and one job of it. Variables without initial value start as zeros.
class SizedBench {
 public:
  // Compiles the network, or loads what is compiled.
  explicit SizedBench(const OpenNetwork& network, const std::vector<uint8_t>& compiled = {});
  ~SizedBench();
  SizedBench(const SizedBench&) = delete;
  SizedBench& operator=(const SizedBench&) = delete;

  // The shapes of the inputs, as the program says which symbols they have.
  [[nodiscard]] graph::GivenShapes shapes(const Sizes& sizes);
  // Random data of these sizes, INT8.
  [[nodiscard]] std::vector<graph::Value> inputs(const Sizes& sizes, std::mt19937& random);
  [[nodiscard]] npu_status set_inputs(npu_job* to, const std::vector<graph::Value>& values);
  [[nodiscard]] npu_status set_inputs(const std::vector<graph::Value>& values) { return set_inputs(job, values); }
  // Of the last execution, as large as the job tells.
  [[nodiscard]] std::vector<graph::Value> outputs(npu_job* of);
  [[nodiscard]] uint64_t cycles();
  // One invocation of the reference.
  [[nodiscard]] std::vector<graph::Value> reference(const Sizes& sizes, const std::vector<graph::Value>& values);
  // Expects no difference; elements compared.
  static int64_t compare(const std::vector<graph::Value>& got, const std::vector<graph::Value>& want);
  // One invocation here and there.
  int64_t run(const Sizes& sizes, std::mt19937& random);
  // Clears variables here and there.
  void clear();
  // Gives both the variables of another one, through a snapshot.
  void restore(const SizedBench& other);

  ErrorBox error;
  npu_context* context = nullptr;
  npu_program* program = nullptr;
  npu_job* job = nullptr;

 private:
  graph::Graph open_;
  reference::Context state_;
};

}  // namespace npu::test
