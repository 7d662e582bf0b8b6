// SPDX-License-Identifier: Apache-2.0
// Networks with state for tests and benchmarks: small cells of the kinds that stream, of integers only, so that every
// device runs them. Weights are random, from the seed, and small enough that no sum overflows.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "driver/graph/graph.h"
#include "driver/graph/value.h"

namespace npu::test {

enum class Precision { kInt8, kInt16x8 };  // of activations and state; weights are INT8

// One step of a gated recurrent unit: input x [1,1,1,inputs], variable `h` [1,1,1,units], output y = new h.
struct GruSizes {
  int64_t inputs = 12, units = 20;
};
[[nodiscard]] graph::Graph gru_step(const GruSizes& sizes, Precision precision, uint32_t seed);

// One step of attention over what was seen before: input x [1,1,1,width]; each layer has variables `key_L` and
// `value_L` [1,window,width], which move on by one row a step; output y [1,1,1,width]. Integer softmax by tables.
struct AttentionSizes {
  int64_t window = 16, width = 16, layers = 1;
};
[[nodiscard]] graph::Graph attention_step(const AttentionSizes& sizes, uint32_t seed);
// One step of attention over the first `rows` rows of variables `keys` and `values` [1,window,width], which are the
// latest ones: then the inputs `key` and `value` [1,1,width] come in front of them. Further inputs: `mask` [1,1,rows],
// which bits of the scores count, and `query` [1,1,width]; output y [1,1,width].
[[nodiscard]] graph::Graph cached_attention_step(const AttentionSizes& sizes, int64_t rows);
// Bytes that the variables of attention_step take.
[[nodiscard]] int64_t attention_state_bytes(const AttentionSizes& sizes);

// Two graphs of one context. The encoder takes x [1,1,1,width], pushes its code into variable `memory`
// [1,window,width], INT8, and counts in variable `count` [1], INT32. The decoder takes the same shape, attends to
// `memory`, keeps its last result in variable `last`, INT16, and gives y, the count, and the result before.
struct Pair {
  graph::Graph encoder, decoder;
};
[[nodiscard]] Pair encoder_decoder(int64_t window, int64_t width, uint32_t seed);

// `count` variables of [length] INT8 that each step adds its input x to, saturating; output y is the sum.
[[nodiscard]] graph::Graph accumulators(int count, int64_t length);

// Any bits that the type allows.
[[nodiscard]] graph::Value random_value(graph::DType type, const graph::Shape& shape, std::mt19937& random);
// For every input of the main block.
[[nodiscard]] std::vector<graph::Value> random_inputs(const graph::Graph& graph, std::mt19937& random);

}  // namespace npu::test
