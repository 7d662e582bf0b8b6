// SPDX-License-Identifier: Apache-2.0
// What every Program must satisfy, whatever it computes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "driver/compiler/ir.h"
#include "driver/compiler/program.h"
#include "driver/compiler/schedule.h"
#include "hw/contract/gen/capabilities.h"

namespace npu::compiler::testing {

// Order that queues and tokens give, and the pairs of commands that need one.
class OrderCheck {
 public:
  OrderCheck(const Program& program, const contract::Capabilities& capabilities);

  // Pairs in conflict that nothing orders, and commands in conflict with themselves; empty is right.
  [[nodiscard]] std::vector<std::string> hazards() const;
  // Tokens whose deletion leaves no pair unordered; empty is right. Skips tokens if there are more than `limit`,
  // evenly.
  [[nodiscard]] std::vector<std::string> needless_tokens(size_t limit) const;
  [[nodiscard]] size_t token_count() const;
  // A random order of execution that queues and tokens permit.
  [[nodiscard]] std::vector<size_t> random_order(uint32_t seed) const;

 private:
  struct Node {
    size_t queue;
    std::array<uint8_t, 12> wait;
  };
  struct Pair {
    size_t before, after;
  };
  // Commands of each queue known to be complete before each command starts.
  [[nodiscard]] std::vector<std::array<int32_t, 16>> clocks(const std::vector<Node>& nodes) const;
  [[nodiscard]] const Pair* unordered(const std::vector<Node>& nodes) const;

  std::vector<Node> nodes_;
  std::vector<Pair> pairs_;
  std::vector<size_t> self_overlaps_;  // commands that write what they read, other than element by element
};

// Compiles and runs the module with random inputs, in stream order and in `orders` random orders, and compares outputs
// and variables with those of the steps. Empty: all is right.
[[nodiscard]] std::string check_module(const Module& module, const contract::Capabilities& capabilities,
                                       const ScheduleOptions& options, uint32_t seed, int orders);

}  // namespace npu::compiler::testing
