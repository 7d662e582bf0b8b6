// SPDX-License-Identifier: Apache-2.0
#include "sim/cosim/random_vpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "hw/contract/elements.h"
#include "sim/cosim/random_floats.h"

namespace npu::cosim {

using contract::Element;
using contract::PoolMode;
using contract::ReduceOp;
using contract::VpuPoolCommand;
using contract::VpuReduceCommand;

namespace {

// Few values, so that maxima tie; all the same with 1.
void make_alike(MadeTile<VpuReduceCommand>& tile, Random& random) {
  const int64_t values = random.pick<int64_t>({1, 2, 3, 4, 256});
  const int64_t lowest = random.pick<int64_t>({0, -1, -128});
  for (uint8_t& byte : tile.bytes) byte = static_cast<uint8_t>(byte % values + lowest);
}

void make_truth_values(MadeTile<VpuReduceCommand>& tile, Random& random) {
  const auto percent = static_cast<int>(random.pick<int64_t>({0, 3, 50, 97, 100}));
  for (uint8_t& byte : tile.bytes) byte = random.chance(percent) ? 1 : 0;
}

// What elements are picked from; empty: any. Few numbers, zeros of both signs and NaNs: the first of equal ones and
// what hides others show.
std::vector<uint32_t> some_floats(Element format, int percent, Random& random) {
  std::vector<uint32_t> values;
  if (!random.chance(percent)) return values;
  const uint32_t sign = 1U << (8 * element_bytes(format) - 1);
  for (int64_t count = random.between(1, 4); count > 0; --count) {
    const uint32_t number = random_float(format, FloatRange::kAroundOne, random);
    values.push_back(
        random.pick<uint32_t>({number, number, 0U, sign, sign - 1, sign | (sign - 1)}));  // all ones: a NaN
  }
  return values;
}

void fill_floats(uint8_t* to, int64_t count, Element format, const std::vector<uint32_t>& values, Random& random) {
  if (values.empty()) return fill_floats(to, count, format, FloatRange::kWithExtremes, random);
  const uint32_t bytes = element_bytes(format);
  for (int64_t i = 0; i < count; ++i, to += bytes) {
    const auto index = static_cast<size_t>(random.between(0, static_cast<int64_t>(values.size()) - 1));
    std::memcpy(to, &values.at(index), bytes);
  }
}

}  // namespace

VpuPoolCommand random_pool(Random& random, int64_t lanes) {
  VpuPoolCommand command;
  command.header.opcode = contract::Opcode::kVpuPool;
  command.header.queue = contract::Queue::kVpu;
  command.mode = random.pick({PoolMode::kMax, PoolMode::kAvg});
  command.type = random.pick({Element::kI8, Element::kI8, Element::kI16});
  const auto dim = [&](int64_t low, int64_t high) { return static_cast<uint32_t>(random.between(low, high)); };
  command.in_h = dim(1, 12);
  command.in_w = dim(1, 12);
  command.out_h = dim(1, 6);
  command.out_w = dim(1, 6);
  command.channels =
      static_cast<uint32_t>(random.pick<int64_t>({1, 2, 3, 7, 16, 17, lanes - 1, lanes, lanes + 1, 2 * lanes + 3}));
  command.kernel_h = dim(1, random.chance(10) ? 40 : 8);
  command.kernel_w = dim(1, 8);
  command.stride_y = dim(1, 3);
  command.stride_x = dim(1, 3);
  command.pad_top = static_cast<int32_t>(random.between(-2, 4));
  command.pad_left = static_cast<int32_t>(random.between(-2, 4));
  if (random.chance(50)) {
    // As the operator wants it: padding less than the kernel, and steps that end with the input.
    command.pad_top = static_cast<int32_t>(random.between(0, int64_t{command.kernel_h} - 1));
    command.pad_left = static_cast<int32_t>(random.between(0, int64_t{command.kernel_w} - 1));
    const auto input = [&](uint32_t out, uint32_t stride, uint32_t kernel, int32_t pad) {
      const int64_t covered = int64_t{out - 1} * stride + kernel - pad;
      return static_cast<uint32_t>(std::max<int64_t>(1, covered - random.between(0, int64_t{kernel} - 1)));
    };
    command.in_h = input(command.out_h, command.stride_y, command.kernel_h, command.pad_top);
    command.in_w = input(command.out_w, command.stride_x, command.kernel_w, command.pad_left);
  }
  return command;
}

void make_float(VpuPoolCommand& command, Random& random) {
  command.type = random_format(random);
  command.ignore_nan = command.mode == PoolMode::kMax && random.chance(50);
}

MadeTile<VpuPoolCommand> make_pool_tile(const VpuPoolCommand& shape, Random& random, bool plain) {
  MadeTile<VpuPoolCommand> tile{shape, {}};
  VpuPoolCommand& command = tile.command;
  const int64_t bytes = element_bytes(command.type);
  const auto gap = [&] { return !plain && random.chance(30) ? random.between(1, 9) : 0; };
  command.src_pixel_stride = static_cast<int32_t>(command.channels * bytes + gap());
  command.src_row_stride = static_cast<int32_t>(command.src_pixel_stride * int64_t{command.in_w} + gap());
  command.dst_pixel_stride = static_cast<int32_t>(command.channels * bytes + gap());
  command.dst_row_stride = static_cast<int32_t>(command.dst_pixel_stride * int64_t{command.out_w} + gap());
  uint32_t at = 3;
  command.src = scratchpad(at);
  at += static_cast<uint32_t>(command.src_row_stride) * command.in_h + 5;
  if (!plain && random.chance(15)) {
    command.src.offset += static_cast<uint32_t>(command.src_row_stride) * (command.in_h - 1);
    command.src_row_stride = -command.src_row_stride;
  }
  command.params = scratchpad(at);
  at += contract::ParameterHeader::kBytes + 1;
  command.dst = scratchpad(at);
  at += static_cast<uint32_t>(command.dst_row_stride) * command.out_h + 9;
  tile.bytes.resize(at);
  random.fill(tile.bytes);
  if (contract::is_float(command.type)) {
    const std::vector<uint32_t> values = some_floats(command.type, 30, random);
    for (int64_t y = 0; y < command.in_h; ++y) {
      for (int64_t x = 0; x < command.in_w; ++x) {
        fill_floats(tile.at(command.src) + y * command.src_row_stride + x * command.src_pixel_stride, command.channels,
                    command.type, values, random);
      }
    }
  }
  contract::ParameterHeader header;
  if (!plain && command.type == Element::kI8) {
    header.input_zp = static_cast<int32_t>(random.between(-128, 127));
    header.output_zp = static_cast<int32_t>(random.between(-128, 127));
  }
  header.store(tile.at(command.params));
  return tile;
}

std::string kind(const VpuPoolCommand& command) {
  return fmt::format("pool {} {}{}", name(command.mode), name(command.type), command.ignore_nan ? " ignores NaNs" : "");
}

std::string describe(const VpuPoolCommand& command) {
  return fmt::format("{} {} {}x{}x{} to {}x{}, kernel {}x{}, stride {}x{}, pad {} {}", name(command.mode),
                     name(command.type), command.in_h, command.in_w, command.channels, command.out_h, command.out_w,
                     command.kernel_h, command.kernel_w, command.stride_y, command.stride_x, command.pad_top,
                     command.pad_left);
}

VpuReduceCommand random_reduce(Random& random, int64_t lanes) {
  VpuReduceCommand command;
  command.header.opcode = contract::Opcode::kVpuReduce;
  command.header.queue = contract::Queue::kVpu;
  command.op = static_cast<ReduceOp>(random.between(0, static_cast<int64_t>(ReduceOp::kArgmax)));
  command.type = random.pick({Element::kI8, Element::kI16, Element::kI32});
  if (command.op == ReduceOp::kSum || command.op == ReduceOp::kProduct) command.type = Element::kI32;
  if (command.op == ReduceOp::kAll || command.op == ReduceOp::kAny) command.type = Element::kBool;
  command.outer = static_cast<uint32_t>(random.between(1, 6));
  command.axis = static_cast<uint32_t>(random.chance(20)   ? random.between(1, 400)
                                       : random.chance(20) ? lanes + random.between(-1, 1)
                                                           : random.between(1, 40));
  command.inner = static_cast<uint32_t>(
      random.chance(50) ? 1 : random.pick<int64_t>({2, 3, 16, 33, lanes - 1, lanes, lanes + 1, 3 * lanes}));
  // More rows than lanes: their results may be stored together.
  if (command.inner == 1 && random.chance(40)) {
    command.outer = static_cast<uint32_t>(random.between(lanes - 1, 2 * lanes + 3));
    command.axis = std::min(command.axis, static_cast<uint32_t>(lanes + 1));
  }
  return command;
}

void make_float(VpuReduceCommand& command, Random& random) {
  command.type = random_result_format(random);
  switch (command.op) {
    case ReduceOp::kAll:
    case ReduceOp::kAny:
      command.op = ReduceOp::kSum;
      return;
    case ReduceOp::kSum:
    case ReduceOp::kProduct:
      return;
    case ReduceOp::kArgmax:
      command.type = random_format(random);
      break;
    case ReduceOp::kMax:
    case ReduceOp::kMin:
      break;
  }
  command.ignore_nan = random.chance(50);
}

MadeTile<VpuReduceCommand> make_reduce_tile(const VpuReduceCommand& shape, Random& random) {
  MadeTile<VpuReduceCommand> tile{shape, {}};
  VpuReduceCommand& command = tile.command;
  const int64_t bytes = element_bytes(command.type);
  const int64_t out_bytes = command.op == ReduceOp::kArgmax ? 4 : bytes;
  const auto gap = [&] { return random.chance(30) ? random.between(1, 9) : 0; };
  command.src_axis_stride = static_cast<int32_t>(command.inner * bytes + gap());
  command.src_outer_stride = static_cast<int32_t>(command.src_axis_stride * int64_t{command.axis} + gap());
  command.dst_outer_stride = static_cast<int32_t>(command.inner * out_bytes + gap());
  uint32_t at = 7;
  const uint32_t src_bytes = static_cast<uint32_t>(command.src_outer_stride) * command.outer;
  const uint32_t dst_bytes = static_cast<uint32_t>(command.dst_outer_stride) * command.outer;
  command.src = scratchpad(at);
  // Reversed, or the same values again.
  if (random.chance(15)) {
    command.src.offset += static_cast<uint32_t>(command.src_axis_stride) * (command.axis - 1);
    command.src_axis_stride = -command.src_axis_stride;
  } else if (random.chance(10)) {
    command.src_outer_stride = 0;
  }
  at += src_bytes + 5;
  command.dst = scratchpad(at);
  if (random.chance(15)) {
    command.dst.offset += static_cast<uint32_t>(command.dst_outer_stride) * (command.outer - 1);
    command.dst_outer_stride = -command.dst_outer_stride;
  }
  tile.bytes.resize(at + dst_bytes + 11);
  random.fill(tile.bytes);
  if (command.type == Element::kBool) {
    make_truth_values(tile, random);
  } else if (contract::is_float(command.type)) {
    const std::vector<uint32_t> values = some_floats(command.type, 50, random);
    for (int64_t o = 0; o < command.outer; ++o) {
      for (int64_t i = 0; i < command.axis; ++i) {
        fill_floats(tile.at(command.src) + o * command.src_outer_stride + i * command.src_axis_stride, command.inner,
                    command.type, values, random);
      }
    }
  } else if (random.chance(50)) {
    make_alike(tile, random);
  }
  return tile;
}

std::string kind(const VpuReduceCommand& command) {
  return fmt::format("reduce {} {}{}", name(command.op), name(command.type), command.ignore_nan ? " ignores NaNs" : "");
}

std::string describe(const VpuReduceCommand& command) {
  return fmt::format("{} {} {}x{}x{}, strides {} {} {}", name(command.op), name(command.type), command.outer,
                     command.axis, command.inner, command.src_outer_stride, command.src_axis_stride,
                     command.dst_outer_stride);
}

}  // namespace npu::cosim
