// SPDX-License-Identifier: Apache-2.0
// Random tiles of the MXU.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "hw/contract/gen/capabilities.h"
#include "hw/contract/gen/commands.h"
#include "sim/cosim/made_tile.h"
#include "sim/cosim/random.h"

namespace npu::cosim {

// What is chosen of a tile; the rest follows.
struct MxuShape {
  contract::MxuMode mode = contract::MxuMode::kConv;
  bool wide_src = false, wide_weights = false;
  std::optional<contract::Element> format;  // of source and weights, of floating point
  int64_t in_h = 1, in_w = 1, in_c = 1, out_c = 1;
  int64_t kernel_h = 1, kernel_w = 1, stride_y = 1, stride_x = 1, dilation_y = 1, dilation_x = 1;
  int64_t pad_top = 0, pad_left = 0, pad_bottom = 0, pad_right = 0;
  int64_t multiplier = 1;
  contract::Rescale rescale = contract::Rescale::kNone;
  contract::Element dst_type = contract::Element::kI32;
  bool output_unsigned = false;
  int64_t gap = 0;  // bytes between pixels, rows and rows of weights that no operand owns
  int32_t input_zp = 0, weight_zp = 0, output_zp = 0;
  int32_t clamp_min = INT32_MIN, clamp_max = INT32_MAX;  // with a format, FP32 patterns
  contract::Residual residual = contract::Residual::kNone;
  int32_t value_zp = 0, residual_zp = 0;
  uint32_t value_left = 0, residual_left = 0;
  uint32_t side_by_side_log2 = 0;
  std::optional<uint8_t> constant_elements;  // this byte everywhere
  bool extreme = false;                      // elements, biases and multipliers at the ends of their ranges; NaNs

  [[nodiscard]] contract::Element src_type() const;
  [[nodiscard]] int64_t out_h() const;
  [[nodiscard]] int64_t out_w() const;
  [[nodiscard]] std::string describe() const;
  // Mode, type, kind of rescale and of result: what tiles are counted by.
  [[nodiscard]] std::string kind() const;
};

// Convolution, depthwise and matmul of every type combination, sizes up to a few thousand MACs a pixel.
[[nodiscard]] MxuShape random_mxu_shape(Random& random);
// Kernels larger than the input, and windows that lie in front of it, behind it or around it.
[[nodiscard]] MxuShape random_mxu_windows(Random& random);
// With a residual, where the shape's types have one. Its parameters are those that RESCALEs of an addition have, or
// any.
void add_residual(MxuShape& shape, Random& random);
// With operands of the format, and an output stage of floating point.
void make_float(MxuShape& shape, contract::Element format, Random& random);
// With several pixels side by side, where the machine has them for the shape's mode: its channels and columns become
// such as they need. The shape has at least one output.
void put_side_by_side(MxuShape& shape, const contract::Capabilities& caps, Random& random);
// Of at most `most_cycles`; some have more pixels than a block of accumulators, or sizes next to those of the machine.
// Throws npu::Error (bad_input) when there is none.
[[nodiscard]] MxuShape random_mxu_shape(Random& random, const contract::Capabilities& caps, uint64_t most_cycles);

// The command, but for the addresses of its operands.
[[nodiscard]] contract::MxuCommand mxu_command(const MxuShape& shape);
// Operands fill the scratchpad one after the other with poison between them.
[[nodiscard]] MadeTile<contract::MxuCommand> make_mxu_tile(const MxuShape& shape, Random& random);
// Some operands from their last row to the first, or with rows that repeat; in the same memory.
void reverse_some(contract::MxuCommand& command, Random& random);

}  // namespace npu::cosim
