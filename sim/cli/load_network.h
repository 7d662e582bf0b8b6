// SPDX-License-Identifier: Apache-2.0
// The network of `run` and `reference`, which may leave sizes to their data.
#pragma once

#include <string>

#include "sim/cli/data_options.h"
#include "sim/workload/network.h"

namespace npu::cli {

// The network, with the sizes that the command knows for those that its file leaves open: of --shape, and of the data.
// Of a sequence with a file for each invocation they are those of the first one. Throws what workload::load_network()
// throws.
[[nodiscard]] workload::Network load_network(const DataOptions& options, const std::string& file);

}  // namespace npu::cli
