// SPDX-License-Identifier: Apache-2.0
// Reductions of floating point, in the order that the contract says.
#pragma once

#include <cstdint>
#include <vector>

#include "hw/contract/gen/capabilities.h"
#include "hw/contract/gen/commands.h"
#include "hw/engine/kernels.h"

namespace npu::engine {

class FloatReducer {
 public:
  FloatReducer(const contract::Capabilities& caps, const Kernels& kernels) : caps_(caps), kernels_(kernels) {}
  // `command` is that of a ReduceTile with a floating-point type, `src` and `dst` are the first bytes of its boxes.
  void run(const contract::VpuReduceCommand& command, const uint8_t* src, uint8_t* dst);

 private:
  // Elements first .. first + count of an axis whose elements lie by themselves (inner is 1).
  void load(const contract::VpuReduceCommand& command, const uint8_t* src, uint64_t first, uint64_t count, float* to);
  // Each leaves the results in front of values_.
  void join_rows(const contract::VpuReduceCommand& command, const uint8_t* src);     // of `inner` elements
  void join_lanes(const contract::VpuReduceCommand& command, const uint8_t* src);    // the axis across the lanes
  void join_vectors(const contract::VpuReduceCommand& command, const uint8_t* src);  // the same, with a tree over them
  void find_greatest(const contract::VpuReduceCommand& command, const uint8_t* src, uint8_t* dst);

  const contract::Capabilities& caps_;
  const Kernels& kernels_;
  std::vector<float> values_;
  std::vector<uint8_t> bytes_;  // of elements that do not lie behind each other
  std::vector<int32_t> best_, index_;
};

}  // namespace npu::engine
