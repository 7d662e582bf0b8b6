// A whole MXU tile for tests: memory with random operands, the command, and the expected bytes from naive loops.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hw/contract/gen/commands.h"
#include "tests/unit/engine/support.h"

namespace npu::engine::testing {

// What a test chooses; the rest follows.
struct MxuShape {
  contract::MxuMode mode = contract::MxuMode::kConv;
  bool wide_src = false, wide_weights = false;
  int64_t in_h = 1, in_w = 1, in_c = 1, out_c = 1;
  int64_t kernel_h = 1, kernel_w = 1, stride_y = 1, stride_x = 1, dilation_y = 1, dilation_x = 1;
  int64_t pad_top = 0, pad_left = 0, pad_bottom = 0, pad_right = 0;
  int64_t multiplier = 1;
  contract::Rescale rescale = contract::Rescale::kNone;
  contract::Element dst_type = contract::Element::kI32;
  bool output_unsigned = false;
  int64_t gap = 0;  // bytes between pixels, rows and rows of weights that no operand owns
  int32_t input_zp = 0, weight_zp = 0, output_zp = 0;
  int32_t clamp_min = INT32_MIN, clamp_max = INT32_MAX;
  std::optional<uint8_t> constant_elements;  // this byte everywhere
  bool extreme = false;                      // elements, biases and multipliers at the ends of their ranges

  [[nodiscard]] int64_t out_h() const;
  [[nodiscard]] int64_t out_w() const;
  [[nodiscard]] std::string describe() const;
};

// A random shape; convolution, depthwise and matmul of every type combination, sizes up to a few thousand MACs a pixel.
[[nodiscard]] MxuShape random_shape(Random& random);

struct MxuCase {
  contract::MxuCommand command;
  std::vector<uint32_t> words;
  TestMemory memory{0};
  std::vector<uint8_t> expected;  // the scratchpad after the tile
  int64_t elements = 0;           // results
};

// Operands fill the scratchpad one after the other with poison between them.
[[nodiscard]] MxuCase make_case(const MxuShape& shape, Random& random);

}  // namespace npu::engine::testing
