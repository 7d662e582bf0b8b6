// SPDX-License-Identifier: Apache-2.0
// Networks of kinds that the imported ones lack, with weights of a seed: what they compute means nothing, what they
// cost does.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "driver/graph/graph.h"

namespace npu::generator {

// A U-Net: three levels of two 3x3 convolutions and a pooling, two convolutions in the middle, and three levels that
// double height and width (TRANSPOSE_CONV2D), join what the level of the same size made, and convolve twice. Input
// `image` INT8[1, 64, 64, 3], output `mask` INT8[1, 64, 64, 2]; 37 million MACs.
[[nodiscard]] graph::Graph unet();

// Doubles the size of a picture: features at the small size, a TRANSPOSE_CONV2D of 8x8, and what a bilinear RESIZE of
// the picture gives is added. Input `picture` INT8[1, 64, 64, 1], output `large` INT8[1, 128, 128, 1]; 21 million MACs.
[[nodiscard]] graph::Graph super_resolution();

// Sizes of a greedy decoder.
struct GreedyDecoder {
  int64_t tokens = 96, units = 128, longest = 64;
  int32_t end_token = -1;  // -1: none
  uint64_t seed = 7;
};

// A loop over a recurrent network whose state is the variable `h` INT8[1, 1, 1, units], zeros at first. Each iteration
// takes the token before, makes the next one, and notes it; the loop ends with the longest sequence or the token that
// ends one. Input `token` INT32[1]; outputs `count` INT32[1] and `tokens` INT32[longest], -1 behind the last one.
[[nodiscard]] graph::Graph greedy_decoder(const GreedyDecoder& sizes = {});

struct SampleNetwork {
  std::string name;
  graph::Graph graph;
};
// All of them.
[[nodiscard]] std::vector<SampleNetwork> sample_networks();

}  // namespace npu::generator
