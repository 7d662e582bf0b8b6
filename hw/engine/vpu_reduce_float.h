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
  // [axis][inner] from `src` on, into values_.
  void load(const contract::VpuReduceCommand& command, const uint8_t* src);
  void find_greatest(const contract::VpuReduceCommand& command, uint8_t* dst) const;
  // The axis across the lanes; leaves the result in front.
  void join_lanes(const FloatJoin& join, uint64_t axis);
  void join_vectors(const FloatJoin& join, uint64_t axis);

  const contract::Capabilities& caps_;
  const Kernels& kernels_;
  std::vector<float> values_;
};

}  // namespace npu::engine
