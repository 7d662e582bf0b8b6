// SPDX-License-Identifier: Apache-2.0
// Networks that leave sizes open.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "driver/compiler/bounds.h"
#include "driver/graph/graph.h"

namespace npu::test {

struct OpenNetwork {
  std::string name;
  graph::Graph graph;
  std::vector<compiler::SizeBounds> bounds;
};

// The graph with all dimensions of 4-dimensional results open that are larger than 1, but for the channels.
[[nodiscard]] graph::Graph with_open_images(graph::Graph graph);

// x [?, 4] XOR w [?, 4] XOR a state [1, 4], which then takes the largest of each column.
[[nodiscard]] OpenNetwork open_rows(int64_t most);
// A state [1, 4] takes the largest of each column of x [?, 4]; x XOR w [?, 4] comes behind that.
[[nodiscard]] OpenNetwork open_early_write(int64_t most);
// Convolutions of images [?, ?, ?, 4] of any number and size, with strides and pooling; a state as above.
[[nodiscard]] OpenNetwork open_images(int64_t most_images, int64_t least, int64_t most);
// x [4, ?] XOR the first columns of a table [4, 64], and the last ones: of at most 64.
[[nodiscard]] OpenNetwork open_tables(int64_t most);
// All of them, of sizes that fit any machine.
[[nodiscard]] std::vector<OpenNetwork> open_networks();

// x [?, ?] XOR a variable [?, ?] of the same sizes, in which the result stays.
[[nodiscard]] OpenNetwork open_state(int64_t most_rows, int64_t most_columns);
// A variable [most, 4] of the rows x [1, 4] of the latest invocations. y [1, 4] has the largest of each column of
// the last ones, as many as `seen` [?, 1] has rows, each XOR its row of that.
[[nodiscard]] OpenNetwork open_cache(int64_t most);
// Attention over the first rows of two variables of `most` rows, as many as its input `mask` says
// (cached_attention_step).
[[nodiscard]] OpenNetwork open_attention_cache(int64_t most);

// The network with dimension `axis` of input 0 open, and whatever was `size` with it: shapes that name it are computed.
[[nodiscard]] graph::Graph open_up(const graph::Graph& graph, int64_t size, int32_t axis);
// A network of a batch of one with any batch: dimension 0 is open of inputs, variables, and what follows from them. No
// variable has an initial value.
[[nodiscard]] graph::Graph with_open_batch(const graph::Graph& graph);

}  // namespace npu::test
