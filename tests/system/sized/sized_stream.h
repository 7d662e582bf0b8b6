// SPDX-License-Identifier: Apache-2.0
// A network with open sizes in one context of a device, beside the reference.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "driver/compiler/program.h"
#include "driver/graph/resolve.h"
#include "driver/runtime/runtime.h"
#include "driver/specialise/bounded_programs.h"
#include "sim/reference/reference.h"
#include "tests/system/sized/open_networks.h"

namespace npu::test {

// One a bound of the network.
using Sizes = std::vector<int64_t>;

// Variables without an initial value start as zeros.
class SizedStream {
 public:
  // `open`: the network's graph, validated. `programs`: all of one compilation.
  SizedStream(runtime::Device& device, const OpenNetwork& network, const graph::Graph& open,
              const std::vector<compiler::Program>& programs, bool double_buffer = false);

  // One invocation of random inputs, on both. Expects no difference in outputs and variables; elements compared.
  int64_t run(const Sizes& sizes, std::mt19937& random);
  // The same on the reference alone. Its outputs.
  std::vector<graph::Value> run_reference(const Sizes& sizes, std::mt19937& random);
  // Loads the program for these sizes.
  void load(const Sizes& sizes) { static_cast<void>(programs_.get(shapes(sizes))); }
  void clear();
  // Of a job at these sizes; ok when there is none.
  [[nodiscard]] contract::ErrorCode error_of(const Sizes& sizes, std::string& message);

 private:
  [[nodiscard]] graph::GivenShapes shapes(const Sizes& sizes) const;
  void start_with_zeros(const graph::Graph& sized);
  int64_t compare_variables();

  const graph::Graph& open_;
  const OpenNetwork& network_;
  std::vector<graph::Value> inputs_;  // of the latest invocation

 public:
  runtime::Context context;
  reference::Context reference;

 private:
  specialise::BoundedPrograms programs_;
};

}  // namespace npu::test
