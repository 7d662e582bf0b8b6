// SPDX-License-Identifier: Apache-2.0
// What is known of a network whose file leaves sizes open, before any are given: `npu info` of such a file.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "driver/graph/infer.h"
#include "sim/workload/network.h"

namespace npu::inspect {

struct OpenNetwork {
  const workload::Network& network;
  graph::Inference inference;
  // The level whose bounds are among what must hold: "8K", or "none" where no sizes are within that.
  std::string level;
  std::map<std::string, int64_t> operators;  // how many there are of each, without constants
  // Shapes of inputs and variables that are open, for which all holds; empty where none were found.
  graph::GivenShapes example;

  [[nodiscard]] const graph::Block& block(size_t region) const { return network.graph.regions[region].blocks.front(); }
};

// `network` is of load_open_network(), was_open, and outlives the result. Throws Error: what infer() throws, naming the
// file.
[[nodiscard]] OpenNetwork inspect_open_network(const workload::Network& network);

// For people; `tensors`: with the sizes of all tensors.
[[nodiscard]] std::string to_text(const OpenNetwork& open, bool tensors);
// As a JSON document in ASCII, the schema npu-info.
[[nodiscard]] std::string to_json_text(const OpenNetwork& open);

}  // namespace npu::inspect
