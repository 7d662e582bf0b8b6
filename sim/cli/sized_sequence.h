// SPDX-License-Identifier: Apache-2.0
// A sequence with a file for each invocation, whose sizes may change: what `run` and `reference` do alike.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "driver/graph/value.h"
#include "sim/cli/data_options.h"
#include "sim/workload/file_sequence.h"
#include "sim/workload/network.h"

namespace npu::cli {

class SizedSequence {
 public:
  // Whether the options give files so.
  [[nodiscard]] static bool is_meant(const DataOptions& options, const std::vector<workload::GraphPort>& inputs);

  // `network` was loaded with load_network() of the command. Adds inputs and outputs to the command's places. Throws
  // Error: what FileSequence throws; bad_option.
  SizedSequence(DataOptions& options, const workload::Network& network);
  // Of a compiled program whose network is not there, and does not check sizes: who runs the program does. Ports have
  // -1 where sizes are open.
  SizedSequence(DataOptions& options, std::vector<workload::GraphPort> inputs,
                const std::vector<workload::GraphPort>& outputs);

  [[nodiscard]] int64_t invocations() const { return files_.invocations(); }

  struct Invocation {
    graph::GivenShapes sizes;  // of inputs, and of --shape
    std::vector<graph::Value> inputs;
  };
  // Reads the files of an invocation and finds the network of their sizes. Throws Error, with the invocation in front:
  // what reading and resolving throw, bad_input, what check_network() throws, and variable_mismatch for a variable
  // whose size would change.
  [[nodiscard]] Invocation prepare(int64_t invocation);
  // Of the sizes of the last one; there must be one.
  [[nodiscard]] const workload::Network& network() const { return network_.value(); }

  // Calls `action`; what it throws has the invocation in front.
  template <typename Action>
  void in_invocation(int64_t invocation, Action action) const {
    try {
      action();
    } catch (const Error& error) {
      throw Error(error.code(), in_words(files_, invocation) + ": " + error.what());
    }
  }

  // By its number in the whole sequence: "invocation 3 ('frames/3.npy')".
  [[nodiscard]] static std::string in_words(const workload::FileSequence& files, int64_t invocation);

  // Of the outputs' files.
  workload::FileOutputs outputs;

 private:
  void resize(const graph::GivenShapes& sizes);

  const DataOptions& options_;
  std::vector<workload::GraphPort> inputs_;
  std::optional<workload::Network> network_;
  workload::FileSequence files_;
  std::optional<graph::GivenShapes> sizes_;  // of network_
};

}  // namespace npu::cli
