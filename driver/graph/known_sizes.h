// SPDX-License-Identifier: Apache-2.0
// What infer() knows of a graph while it goes through it, as the operators' rules see it. Private to this folder.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "driver/graph/graph.h"
#include "driver/graph/open_sizes.h"

namespace npu::graph {

struct KnownSizes {
  struct OfBlock {
    size_t region = 0;
    std::vector<std::optional<Dims>> sizes;  // by tensor; of a shape: how many sizes it has
    std::map<TensorId, Dims> values;         // of shapes that are computed
  };

  std::map<const Block*, OfBlock> blocks;
  OpenSizes open;
};

}  // namespace npu::graph
