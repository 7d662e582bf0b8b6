// SPDX-License-Identifier: Apache-2.0
// The options for networks and data that `run` and `reference` share.
#pragma once

#include <boost/program_options.hpp>
#include <optional>
#include <string>
#include <vector>

#include "driver/graph/level.h"
#include "sim/tool/file_places.h"
#include "sim/workload/data.h"
#include "sim/workload/network.h"

namespace npu::cli {

struct DataOptions {
  std::vector<std::string> inputs;
  bool sequence = false;
  graph::GivenShapes shapes;  // of --shape
  std::string outputs;        // folder; empty: none
  bool zero_init = false;
  bool strict = false;                // refuse what TOSA 1.0 does not have
  std::optional<graph::Level> level;  // refuse a network above it; nullopt: sizes are not checked
  workload::InvocationRange range;
  std::string resume, save_state;  // snapshots; empty: none
  bool quiet = false;
  tool::FilePlaces places;  // of the network, the inputs and the snapshots; for the command to add its other files
};

void add_data_options(boost::program_options::options_description& options);
// FILE, then any number of further inputs: `--input a=x.npy b=y.npy` and `--input a=x.npy --input b=y.npy` are the
// same.
void add_file_and_inputs(boost::program_options::options_description& hidden,
                         boost::program_options::positional_options_description& positional);
// Throws Error: kBadOption, also for a --save-state that would replace what is read otherwise than by --resume;
// kCannotWrite for one where no file can be made.
[[nodiscard]] DataOptions data_options(const boost::program_options::variables_map& values);

// With the shapes of --shape, too. Throws Error(bad_input) for an input whose data has another one.
[[nodiscard]] graph::GivenShapes with_given_shapes(const DataOptions& options, graph::GivenShapes shapes);

// Throws Error for --shape beside a network whose file leaves no size open, for one above the level that was asked for,
// and with `strict` what workload::check_strict() throws.
void check_network(const DataOptions& options, const workload::Network& network);

}  // namespace npu::cli
