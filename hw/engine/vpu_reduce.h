// SPDX-License-Identifier: Apache-2.0
// Reductions over the middle of three dimensions.
#pragma once

#include <span>
#include <vector>

#include "hw/contract/gen/capabilities.h"
#include "hw/engine/box.h"
#include "hw/engine/engine.h"

namespace npu::engine {

// One validated reduction. Types: sum and product i32 (wrapping); max and min i8, i16, i32; all and any bool; argmax
// i8, i16, i32 to i32.
struct ReduceTile {
  contract::VpuReduceCommand command;
  uint64_t src_bytes = 1, dst_bytes = 1;  // of an element

  [[nodiscard]] static contract::ErrorCode parse(std::span<const uint32_t> words, ReduceTile& tile);
  [[nodiscard]] Box src_box() const;
  [[nodiscard]] Box dst_box() const;
};

// Where the operands of a tile are: the first byte of each box.
struct ReduceOperands {
  const uint8_t* src = nullptr;
  uint8_t* dst = nullptr;

  // Asks for them in this order, and ends with the first that is refused.
  [[nodiscard]] contract::ErrorCode resolve(const ReduceTile& tile, MemoryView& memory);
};

class ReduceRunner {
 public:
  explicit ReduceRunner(const contract::Capabilities& caps) : caps_(caps) {}
  [[nodiscard]] TileResult run(std::span<const uint32_t> words, MemoryView& memory, bool timed);

 private:
  const contract::Capabilities& caps_;
  std::vector<int32_t> best_, index_;
};

}  // namespace npu::engine
