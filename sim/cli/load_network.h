// SPDX-License-Identifier: Apache-2.0
// The network of `run` and `reference`, which may leave sizes to their data.
#pragma once

#include <string>
#include <vector>

#include "sim/cli/data_options.h"
#include "sim/workload/network.h"

namespace npu::cli {

// The shapes that the command knows, where an input has one file at most: those of --shape, and of the data; of a
// sequence, those of a frame. Throws what with_given_shapes() and workload::shapes_of() throw.
[[nodiscard]] graph::GivenShapes shapes_of_data(const DataOptions& options,
                                                const std::vector<workload::GraphPort>& inputs);

// The network, with the sizes that the command knows for those that its file leaves open: of --shape, and of the data.
// Of a sequence with a file for each invocation they are those of the first one. Throws what workload::load_network()
// throws.
[[nodiscard]] workload::Network load_network(const DataOptions& options, const std::string& file);

}  // namespace npu::cli
