// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/engine/mxu_case.h"

#include "tests/unit/engine/scalar_math.h"

namespace npu::engine::testing {

using contract::MxuCommand;
using contract::MxuMode;
using contract::ParameterEntry;
using contract::ParameterHeader;
using contract::Rescale;

namespace {

// Sum of products of one accumulator, padding skipped.
int64_t accumulate(const MxuCase& test, const MxuShape& shape, int64_t oy, int64_t ox, int64_t oc) {
  const MxuCommand& command = test.command;
  const uint8_t* src = test.memory.at(command.src);
  const uint8_t* weights = test.memory.at(command.weights);
  int64_t sum = 0;
  const bool depthwise = shape.mode == MxuMode::kDepthwise;
  for (int64_t ky = 0; ky < shape.kernel_h; ++ky) {
    for (int64_t kx = 0; kx < shape.kernel_w; ++kx) {
      const int64_t y = oy * shape.stride_y - shape.pad_top + ky * shape.dilation_y;
      const int64_t x = ox * shape.stride_x - shape.pad_left + kx * shape.dilation_x;
      if (y < 0 || y >= shape.in_h || x < 0 || x >= shape.in_w) continue;
      for (int64_t ic = 0; ic < shape.in_c; ++ic) {
        if (depthwise && ic != oc / shape.multiplier) continue;
        const int64_t tap = ky * shape.kernel_w + kx;
        int64_t row = oc, column = tap * shape.in_c + ic;
        if (depthwise) row = tap, column = oc;
        if (shape.mode == MxuMode::kMatmul) row = ic, column = oc;
        const uint8_t* element = src + y * command.src_row_stride + x * command.src_pixel_stride +
                                 ic * static_cast<int64_t>(element_bytes(command.src_type));
        const uint8_t* weight =
            weights + row * command.w_stride + column * static_cast<int64_t>(element_bytes(command.weight_type));
        sum +=
            (load(element, command.src_type) - shape.input_zp) * (load(weight, command.weight_type) - shape.weight_zp);
      }
    }
  }
  return sum;
}

// What the output stage makes of a value with a residual, step by step as the operators of an addition have it.
int64_t add_operand(int64_t value, int64_t operand, const MxuCommand& command, const ParameterEntry& entry,
                    const ParameterHeader& header) {
  ParameterHeader own = header;
  own.output_zp = header.value_zp;
  own.clamp_min = INT32_MIN;
  own.clamp_max = INT32_MAX;
  const int64_t scaled = rescale(value, command.rescale, entry, own, contract::Element::kI8, false);
  int64_t sides[] = {wrap(Wide{scaled - header.value_zp} << command.value_left, 32),
                     wrap(Wide{operand - header.residual_zp} << command.residual_left, 32)};
  int64_t& side = sides[command.residual == contract::Residual::kScaleOperand ? 1 : 0];
  side = scale(side, command.rescale, header.residual_multiplier, header.residual_shift & 63);
  ParameterEntry last;
  last.multiplier = header.sum_multiplier;
  last.shift = header.sum_shift & 63;
  return rescale(wrap(Wide{sides[0]} + sides[1], 32), command.rescale, last, header, contract::Element::kI8, false);
}

std::vector<uint8_t> expect(const MxuCase& test, const MxuShape& shape) {
  std::vector<uint8_t> bytes = test.memory.scratchpad();
  const MxuCommand& command = test.command;
  const uint8_t* params = test.memory.at(command.params);
  const ParameterHeader header = ParameterHeader::load(params);
  const int acc_bits = shape.wide_src ? 48 : 32;
  for (int64_t oy = 0; oy < shape.out_h(); ++oy) {
    for (int64_t ox = 0; ox < shape.out_w(); ++ox) {
      for (int64_t oc = 0; oc < shape.out_c; ++oc) {
        const ParameterEntry entry =
            ParameterEntry::load(params + ParameterHeader::kBytes + oc * int64_t{ParameterEntry::kBytes});
        int64_t value = wrap(Wide{accumulate(test, shape, oy, ox, oc)} + entry.bias, acc_bits);
        if (shape.residual != contract::Residual::kNone) {
          const uint8_t* operand = test.memory.at(command.residual_src) + oy * command.residual_row_stride +
                                   ox * command.residual_pixel_stride + oc;
          value = add_operand(value, load(operand, contract::Element::kI8), command, entry, header);
        } else if (shape.rescale != Rescale::kNone) {
          value = rescale(value, shape.rescale, entry, header, shape.dst_type, shape.output_unsigned);
        }
        const int64_t offset = int64_t{command.dst.offset} + oy * command.dst_row_stride +
                               ox * command.dst_pixel_stride + oc * static_cast<int64_t>(element_bytes(shape.dst_type));
        store(bytes.data() + offset, shape.dst_type, value);
      }
    }
  }
  return bytes;
}

}  // namespace

MxuCase make_case(const MxuShape& shape, Random& random) {
  MxuCase test;
  cosim::MadeTile<MxuCommand> made = cosim::make_mxu_tile(shape, random);
  test.command = made.command;
  test.words = encode(made.command);
  test.memory = TestMemory(std::move(made.bytes));
  test.expected = expect(test, shape);
  test.elements = shape.out_h() * shape.out_w() * shape.out_c;
  return test;
}

}  // namespace npu::engine::testing
