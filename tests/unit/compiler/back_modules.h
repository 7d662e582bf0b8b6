// SPDX-License-Identifier: Apache-2.0
// Modules made by hand or at random, for tests of the back end.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "driver/compiler/ir.h"
#include "hw/contract/gen/capabilities.h"

namespace npu::compiler::testing {

[[nodiscard]] contract::Capabilities edge_capabilities();
[[nodiscard]] contract::Capabilities nano_capabilities();

struct ConvShape {
  int64_t channels = 8, kernel_h = 3, kernel_w = 3, stride_y = 1, stride_x = 1, dilation_y = 1, dilation_x = 1;
  int64_t pad_top = 0, pad_bottom = 0, pad_left = 0, pad_right = 0, multiplier = 1;
  contract::Element result = contract::Element::kI8;
};

// Adds one step a call; tensors are views. Weights and parameters are random.
class ModuleBuilder {
 public:
  explicit ModuleBuilder(uint32_t seed) : random(seed) {}

  [[nodiscard]] int64_t pick(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  }
  View input(std::vector<int64_t> dims, contract::Element type = contract::Element::kI8);
  View constant(std::vector<int64_t> dims, contract::Element type = contract::Element::kI8);
  // A tensor that the next steps write; `output` makes it a port.
  View tensor(std::vector<int64_t> dims, contract::Element type, bool output = false);
  View variable(std::vector<int64_t> dims, contract::Element type = contract::Element::kI8);

  void conv(const View& src, const View& dst, const ConvShape& shape);
  void depthwise(const View& src, const View& dst, const ConvShape& shape);
  void matmul(const View& a, const View& b, const View& dst);
  void pool(contract::PoolMode mode, const View& src, const View& dst, const ConvShape& shape);
  void add(const View& a, const View& b, const View& dst);  // saturated to dst's type; shapes broadcast by stride 0
  // fresh = a + b, stored; then sum = fresh + old, saturated as `add`: `old` is loaded behind the store.
  void add_twice(const View& a, const View& b, const View& old, const View& fresh, const View& sum);
  void rescale(const View& src, const View& dst, bool per_channel);
  void table(const View& src, const View& dst);
  void reduce(contract::ReduceOp op, const View& src, const View& dst);
  void copy(const View& src, const View& dst, bool commit = false);
  // `rows` [N,W,C] from the table [N,K,C], or, with `scatter`, into it (W <= K), by constants in random order: each row
  // once, before any is chosen again.
  void gather(const View& table, const View& rows, bool scatter);
  void fill(const View& dst, uint64_t value);

  [[nodiscard]] static std::vector<int64_t> window_result(const std::vector<int64_t>& src, const ConvShape& shape,
                                                          int64_t channels);

  std::mt19937 random;
  Module module;

 private:
  View dense_view(BufferId buffer, std::vector<int64_t> dims, contract::Element type);
  Params parameters(int64_t channels, contract::Element src, contract::Element dst);
  void step(std::string name, Work work);
};

// A view of the same buffer with repeated dimensions where `dims` is larger than the view's 1.
[[nodiscard]] View broadcast(View view, const std::vector<int64_t>& dims);

// A chain of `steps` random steps with branches, odd sizes, broadcasts, slices and copies.
[[nodiscard]] Module random_module(uint32_t seed, int steps);
// The same of at most 4 rows, columns and channels, so that a size of 1 meets another.
[[nodiscard]] Module random_small_module(uint32_t seed, int steps);
// The module with a residual on most of the convolutions whose windows fit into a quarter of `spm_bytes`, as the front
// end gives them; `count` grows by their number.
[[nodiscard]] Module with_residuals(Module module, uint32_t seed, int64_t spm_bytes, size_t& count);
// The module with parameter blocks and tables that it has as constants made by copies at run time.
[[nodiscard]] Module with_run_time_blocks(const Module& module);
// Variables of rows that are read, replaced, added to, and moved on like windows of a stream, in any order.
[[nodiscard]] Module random_state_module(uint32_t seed, int steps);
// A plain chain of steps on images of many rows: what may run stripe by stripe.
[[nodiscard]] Module random_image_module(uint32_t seed, int steps, int64_t images = 1);
// Steps on such images, with results that several of them read.
[[nodiscard]] Module random_branching_module(uint32_t seed, int steps, int64_t images = 1);

}  // namespace npu::compiler::testing
