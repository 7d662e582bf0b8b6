// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/engine/mxu_case.h"

#include <array>

#include "tests/unit/engine/scalar_float_sums.h"
#include "tests/unit/engine/scalar_floats.h"
#include "tests/unit/engine/scalar_math.h"

namespace npu::engine::testing {

using contract::MxuCommand;
using contract::MxuMode;
using contract::ParameterEntry;
using contract::ParameterHeader;
using contract::Rescale;

namespace {

// Calls visit(source, weight) for each product of an accumulator, in the order of the reduction; both are null where
// the window lies outside of the input.
template <class Visit>
void for_each_product(const MxuCase& test, const MxuShape& shape, int64_t oy, int64_t ox, int64_t oc, Visit visit) {
  const MxuCommand& command = test.command;
  const uint8_t* src = test.memory.at(command.src);
  const uint8_t* weights = test.memory.at(command.weights);
  const bool depthwise = shape.mode == MxuMode::kDepthwise;
  const int64_t first = depthwise ? oc / shape.multiplier : 0, end = depthwise ? first + 1 : shape.in_c;
  for (int64_t ky = 0; ky < shape.kernel_h; ++ky) {
    for (int64_t kx = 0; kx < shape.kernel_w; ++kx) {
      const int64_t y = oy * shape.stride_y - shape.pad_top + ky * shape.dilation_y;
      const int64_t x = ox * shape.stride_x - shape.pad_left + kx * shape.dilation_x;
      const bool outside = y < 0 || y >= shape.in_h || x < 0 || x >= shape.in_w;
      for (int64_t ic = first; ic < end; ++ic) {
        if (outside) {
          visit(nullptr, nullptr);
          continue;
        }
        const int64_t tap = ky * shape.kernel_w + kx;
        int64_t row = oc, column = tap * shape.in_c + ic;
        if (depthwise) row = tap, column = oc;
        if (shape.mode == MxuMode::kMatmul) row = ic, column = oc;
        visit(src + y * command.src_row_stride + x * command.src_pixel_stride +
                  ic * static_cast<int64_t>(element_bytes(command.src_type)),
              weights + row * command.w_stride + column * static_cast<int64_t>(element_bytes(command.weight_type)));
      }
    }
  }
}

// Sum of products of one accumulator.
int64_t accumulate(const MxuCase& test, const MxuShape& shape, int64_t oy, int64_t ox, int64_t oc) {
  int64_t sum = 0;
  for_each_product(test, shape, oy, ox, oc, [&](const uint8_t* element, const uint8_t* weight) {
    if (element == nullptr) return;
    sum += (load(element, test.command.src_type) - shape.input_zp) *
           (load(weight, test.command.weight_type) - shape.weight_zp);
  });
  return sum;
}

// What is added to a result.
const uint8_t* residual_at(const MxuCase& test, std::array<int64_t, 3> at) {
  const MxuCommand& command = test.command;
  return test.memory.at(command.residual_src) + at[0] * command.residual_row_stride +
         at[1] * command.residual_pixel_stride + at[2] * static_cast<int64_t>(element_bytes(command.dst_type));
}

// A result of floating point, as the element's pattern.
int64_t float_result(const MxuCase& test, const MxuShape& shape, const contract::Capabilities& caps,
                     std::array<int64_t, 3> at, const ParameterEntry& entry, const ParameterHeader& header) {
  const auto value = [&](const uint8_t* element, contract::Element type) {
    return scalar::widen(type, load_pattern(element, type));
  };
  std::vector<uint32_t> products;
  for_each_product(test, shape, at[0], at[1], at[2], [&](const uint8_t* element, const uint8_t* weight) {
    products.push_back(element == nullptr ? 0
                                          : scalar::product(value(element, test.command.src_type),
                                                            value(weight, test.command.weight_type)));
  });
  uint32_t sum = scalar::sum(scalar::accumulate(test.command, caps, products), static_cast<uint32_t>(entry.bias));
  if (shape.residual != contract::Residual::kNone) {
    // What stored and loaded again would be added.
    const uint32_t stored = scalar::widen(shape.dst_type, scalar::narrow(shape.dst_type, sum));
    sum = scalar::sum(stored, value(residual_at(test, at), shape.dst_type));
  }
  return scalar::narrow(shape.dst_type, scalar::clamp(sum, static_cast<uint32_t>(header.clamp_min),
                                                      static_cast<uint32_t>(header.clamp_max), false));
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

std::vector<uint8_t> expect(const MxuCase& test, const MxuShape& shape, const contract::Capabilities& caps) {
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
        int64_t value = 0;
        if (shape.format) {
          value = float_result(test, shape, caps, {oy, ox, oc}, entry, header);
        } else {
          value = wrap(Wide{accumulate(test, shape, oy, ox, oc)} + entry.bias, acc_bits);
        }
        if (shape.residual != contract::Residual::kNone && !shape.format) {
          const uint8_t* operand = residual_at(test, {oy, ox, oc});
          value = add_operand(value, load(operand, contract::Element::kI8), command, entry, header);
        } else if (shape.rescale != Rescale::kNone && !shape.format) {
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

MxuShape plain_float_shape(contract::Element format, int64_t in_c, int64_t out_c) {
  MxuShape shape;
  shape.format = format;
  shape.rescale = contract::Rescale::kFloating;
  shape.dst_type = contract::Element::kF32;
  shape.clamp_min = kMinusInfinity;
  shape.clamp_max = kPlusInfinity;
  shape.in_c = in_c;
  shape.out_c = out_c;
  return shape;
}

MxuCase make_case(const MxuShape& shape, Random& random, const contract::Capabilities& caps,
                  const std::function<void(cosim::MadeTile<MxuCommand>&)>& change) {
  MxuCase test;
  cosim::MadeTile<MxuCommand> made = cosim::make_mxu_tile(shape, random);
  if (change) change(made);
  test.command = made.command;
  test.words = encode(made.command);
  test.memory = TestMemory(std::move(made.bytes));
  test.expected = expect(test, shape, caps);
  test.elements = shape.out_h() * shape.out_w() * shape.out_c;
  return test;
}

}  // namespace npu::engine::testing
