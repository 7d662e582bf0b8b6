// SPDX-License-Identifier: Apache-2.0
// Values known at compile time: constants of the file and what byte moves, RESCALE and CAST make of them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "driver/graph/float_format.h"
#include "driver/graph/graph.h"

namespace npu::compiler {

// A constant in machine elements (graph/value.h), C order. RESHAPE and IDENTITY share the bytes.
struct Constant {
  graph::DType type = graph::DType::kUnknown;
  graph::Shape shape;
  std::shared_ptr<const std::vector<uint8_t>> bytes;

  [[nodiscard]] int64_t elements() const;
  // The bits of element `index` as a signed integer: its value, but of floating point.
  [[nodiscard]] int64_t at(int64_t index) const;
  // The same as a register of the VPU holds it: of floating point an FP32 pattern.
  [[nodiscard]] int64_t in_register(int64_t index) const;
  // Whether all elements are equal, and there is one.
  [[nodiscard]] bool uniform() const;
};

// The FP32 pattern of an element of a floating-point format, as a load of the VPU makes it.
[[nodiscard]] int32_t float_pattern(const graph::FloatFormat& format, uint32_t pattern);

// What folding may allocate for the block that runs first, in bytes, and for all blocks of control flow together once
// more, so that a small file cannot ask for large results.
inline constexpr int64_t kFoldingBudget = int64_t{256} << 20;

// The bytes of tensors with data, for blocks that are folded several times.
using ConstantData = std::unordered_map<const graph::Tensor*, std::shared_ptr<const std::vector<uint8_t>>>;

// What folding takes from outside of a block.
struct Folding {
  std::span<const std::optional<Constant>> inputs = {};  // values of its inputs that are known, one an input; or none
  int64_t budget = kFoldingBudget;                       // bytes
  ConstantData* shared = nullptr;                        // where data is kept; null: it is the block's alone
};

// One entry a tensor of the block; nullopt where the value depends on inputs or variables. An operator that is not
// folded although its operands are constants runs on the device. The block must be valid.
[[nodiscard]] std::vector<std::optional<Constant>> fold_constants(const graph::Block& block,
                                                                  const Folding& folding = {});

// RESCALE of one value: TOSA 1.0 "RESCALE", with the multiplier's width and rounding as `scale32` and `double_round`
// say.
[[nodiscard]] int64_t rescale_value(int64_t value, int64_t multiplier, int64_t shift, bool scale32, bool double_round);

}  // namespace npu::compiler
