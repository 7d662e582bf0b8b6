// SPDX-License-Identifier: Apache-2.0
// The MXU's RTL under commands of all sizes that make_tile() takes: their first cycles, and a small tile behind a
// reset.
#include <fmt/format.h>

#include <bit>

#include "hw/engine/mxu_model.h"
#include "hw/engine/mxu_tile.h"
#include "hw/timing/cycles.h"
#include "hw/timing/mxu_ports.h"
#include "rtl/verilated/mac_array.h"
#include "rtl/verilated/machines.h"
#include "sim/cosim/random_mxu.h"
#include "sim/cosim/rtl_ports.h"
#include "tests/block/huge.h"
#include "tests/unit/engine/support.h"

namespace npu::rtl::test {
namespace {

using contract::Capabilities;
using contract::Element;
using contract::MxuCommand;
using contract::MxuMode;
using contract::Rescale;
using engine::MxuTile;
using timing::ceil_div;

enum Operand : uint32_t { kSrc, kWeights, kParams, kDst, kResidual };

// Requests as numbers.
Request numbers(const MacArray::Activations& request) {
  Request numbers = {request.elements};
  for (uint32_t pixel = 0; pixel < request.pixels; ++pixel) {
    numbers.push_back(static_cast<uint32_t>(request.positions[pixel]));
    numbers.push_back(static_cast<uint32_t>(request.positions[pixel] >> 32));
  }
  request.each([&](uint32_t, uint32_t, int32_t offset) { numbers.push_back(static_cast<uint32_t>(offset)); });
  return numbers;
}
Request numbers(const MacArray::Weights& request) {
  return {request.columns, request.elements, static_cast<uint32_t>(request.offset),
          static_cast<uint32_t>(request.column_stride), static_cast<uint32_t>(request.element_stride)};
}
Request numbers(const MacArray::Parameters& request) { return {request.bytes, static_cast<uint32_t>(request.offset)}; }
Request numbers(const MacArray::Residual& request) { return {request.columns, static_cast<uint32_t>(request.offset)}; }
Request numbers(const MacArray::Results& request) { return {request.columns, static_cast<uint32_t>(request.offset)}; }

void serve(const MacArray::Activations& request, const Bytes& memory) {
  const uint32_t bytes = request.elements * request.element_bytes;
  request.each([&](uint32_t pixel, uint32_t position, int32_t offset) {
    uint8_t* to = request.place(pixel, position);
    for (uint32_t b = 0; b < bytes; ++b) to[b] = memory.read(kSrc, static_cast<uint32_t>(offset) + b);
  });
}
void serve(const MacArray::Weights& request, const Bytes& memory) {
  for (uint32_t c = 0; c < request.columns; ++c) {
    for (uint32_t e = 0; e < request.elements; ++e) {
      const uint32_t from = static_cast<uint32_t>(request.offset) + c * static_cast<uint32_t>(request.column_stride) +
                            e * static_cast<uint32_t>(request.element_stride);
      uint8_t* to = request.data + (size_t{c} * request.pitch + e) * request.element_bytes;
      for (uint32_t b = 0; b < request.element_bytes; ++b) to[b] = memory.read(kWeights, from + b);
    }
  }
}
void serve(const MacArray::Parameters& request, const Bytes& memory) {
  for (uint32_t b = 0; b < request.bytes; ++b) {
    request.data[b] = memory.read(kParams, static_cast<uint32_t>(request.offset) + b);
  }
}
void serve(const MacArray::Residual& request, const Bytes& memory) {
  for (uint32_t b = 0; b < request.columns * request.element_bytes; ++b) {
    uint8_t* element = request.data + size_t{b / request.element_bytes} * request.pitch;
    element[b % request.element_bytes] = memory.read(kResidual, static_cast<uint32_t>(request.offset) + b);
  }
}
void serve(const MacArray::Results& request, const Bytes& memory) {
  std::vector<uint8_t> bytes(size_t{request.columns} * request.element_bytes);
  MacArray::Results here = request;
  here.offset = 0;
  store(here, bytes.data());
  for (uint32_t b = 0; b < bytes.size(); ++b) {
    memory.write(kDst, static_cast<uint32_t>(request.offset) + b, bytes[b]);
  }
}

// What a tile asks for, port by port: loops over blocks of pixels, groups of channels, steps of the reduction, pixels.
class Loops {
 public:
  // The first `limit` requests.
  Loops(const MxuTile& tile, const Capabilities& caps, size_t limit) : tile_(tile), caps_(caps), limit_(limit) {
    depthwise_ = command_.mode == MxuMode::kDepthwise;
    packed_ = depthwise_ || command_.in_c < caps.mxu_depth;
    slots_ = depthwise_ ? caps.mxu_dw_taps : caps.mxu_depth;
    chunks_ = packed_ ? 1 : ceil_div(command_.in_c, slots_);
    steps_ = packed_ ? ceil_div(tile.reduction, slots_) : tile.taps * chunks_;
    groups_ = ceil_div(command_.out_c, caps.mxu_cols);
    block_ = side_by_side_ * (caps.mxu_acc_bytes / 2 / (tile.wide ? 8 : 4) / caps.mxu_cols);
  }

  [[nodiscard]] std::vector<Request> activations() const {
    return list([&](uint64_t block, uint64_t group, const auto& add) {
      for (uint64_t step = 0; step < steps_; ++step) {
        for (uint64_t pixel = block; pixel < block_end(block); pixel += side_by_side_) {
          if (!add(activation(group, step, pixel))) return;
        }
      }
    });
  }
  [[nodiscard]] std::vector<Request> weights() const {
    const auto beat = static_cast<uint32_t>(caps_.mxu_weight_port_bytes / (slots_ * tile_.weight_bytes));
    const auto bytes = static_cast<uint32_t>(tile_.weight_bytes), stride = static_cast<uint32_t>(command_.w_stride);
    const bool conv = command_.mode == MxuMode::kConv;
    const uint32_t column_stride = conv ? stride : bytes, element_stride = conv ? bytes : stride;
    return list([&](uint64_t, uint64_t group, const auto& add) {
      for (uint64_t step = 0; step < steps_; ++step) {
        for (uint32_t done = 0; done < columns(group); done += std::min(beat, caps_.mxu_cols)) {
          const uint64_t channel = group * caps_.mxu_cols + done;
          if (!add(
                  {std::min({beat, caps_.mxu_cols, columns(group) - done}), elements(step),
                   static_cast<uint32_t>(channel) * column_stride + static_cast<uint32_t>(first(step)) * element_stride,
                   column_stride, element_stride})) {
            return;
          }
        }
      }
    });
  }
  [[nodiscard]] std::vector<Request> parameters() const {
    constexpr uint32_t kHeader = contract::ParameterHeader::kBytes, kEntry = contract::ParameterEntry::kBytes;
    std::vector<Request> header;
    for (uint32_t at = 0; at < kHeader; at += caps_.mxu_weight_port_bytes) {
      header.push_back({std::min(caps_.mxu_weight_port_bytes, kHeader - at), at});
    }
    const std::vector<Request> entries = list([&](uint64_t, uint64_t group, const auto& add) {
      const uint32_t bytes = columns(group) * kEntry;
      for (uint32_t at = 0; at < bytes; at += caps_.mxu_weight_port_bytes) {
        if (!add({std::min(caps_.mxu_weight_port_bytes, bytes - at),
                  kHeader + static_cast<uint32_t>(group) * caps_.mxu_cols * kEntry + at})) {
          return;
        }
      }
    });
    header.insert(header.end(), entries.begin(), entries.end());
    return header;
  }
  [[nodiscard]] std::vector<Request> results() const {
    return pixels(command_.dst_row_stride, command_.dst_pixel_stride, tile_.dst_bytes);
  }
  [[nodiscard]] std::vector<Request> residual() const {
    if (!tile_.adds()) return {};
    return pixels(command_.residual_row_stride, command_.residual_pixel_stride, tile_.dst_bytes);
  }

 private:
  // Of an operand with the results' shape, in the order in which those are made.
  [[nodiscard]] std::vector<Request> pixels(int32_t row_stride, int32_t pixel_stride, uint64_t element_bytes) const {
    return list([&](uint64_t block, uint64_t group, const auto& add) {
      for (uint64_t pixel = block; pixel < block_end(block); pixel += side_by_side_) {
        const auto y = static_cast<uint32_t>(pixel / command_.out_w), x = static_cast<uint32_t>(pixel % command_.out_w);
        const auto channels = static_cast<uint32_t>(group * caps_.mxu_cols * element_bytes);
        if (!add({columns(group) * side_by_side_,
                  y * static_cast<uint32_t>(row_stride) + x * static_cast<uint32_t>(pixel_stride) + channels})) {
          return;
        }
      }
    });
  }

  // `visit(block, group, add)` adds requests until there are enough; a block is named by its first pixel.
  template <class Visit>
  [[nodiscard]] std::vector<Request> list(const Visit& visit) const {
    std::vector<Request> requests;
    const auto add = [&](Request request) {
      requests.push_back(std::move(request));
      return requests.size() < limit_;
    };
    for (uint64_t block = 0; block < tile_.pixels; block += block_) {
      for (uint64_t group = 0; group < groups_; ++group) {
        visit(block, group, add);
        if (requests.size() >= limit_) return requests;
      }
    }
    return requests;
  }

  [[nodiscard]] Request activation(uint64_t group, uint64_t step, uint64_t pixel) const {
    uint64_t channel = 0;
    uint32_t elements_of_position = packed_ ? 1 : elements(step);
    if (depthwise_) {
      channel = group * caps_.mxu_cols / command_.multiplier;
      const uint64_t last = (group * caps_.mxu_cols + columns(group) - 1) / command_.multiplier;
      elements_of_position = static_cast<uint32_t>(last - channel + 1);
    }
    Request request = {elements_of_position}, offsets;
    for (uint64_t side = 0; side < side_by_side_; ++side) {
      const uint64_t positions = add_window(step, pixel + side, channel, offsets);
      request.push_back(static_cast<uint32_t>(positions));
      request.push_back(static_cast<uint32_t>(positions >> 32));
    }
    request.insert(request.end(), offsets.begin(), offsets.end());
    return request;
  }

  // The positions of a pixel inside the input box, and their offsets; `channel` is that of depthwise ones.
  uint64_t add_window(uint64_t step, uint64_t pixel, uint64_t channel, Request& offsets) const {
    const int64_t y = static_cast<int64_t>(pixel / command_.out_w) * command_.stride_y - command_.pad_top;
    const int64_t x = static_cast<int64_t>(pixel % command_.out_w) * command_.stride_x - command_.pad_left;
    uint64_t positions = 0;
    for (uint32_t k = 0; k < (packed_ ? elements(step) : 1); ++k) {
      const uint64_t at = first(step) + k, tap = depthwise_ ? at : at / command_.in_c;
      if (!depthwise_) channel = at % command_.in_c;
      const int64_t in_y = y + static_cast<int64_t>(tap / command_.kernel_w) * command_.dilation_y;
      const int64_t in_x = x + static_cast<int64_t>(tap % command_.kernel_w) * command_.dilation_x;
      if (in_y < 0 || in_y >= command_.in_h || in_x < 0 || in_x >= command_.in_w) continue;
      positions |= uint64_t{1} << k;
      offsets.push_back(static_cast<uint32_t>(in_y) * static_cast<uint32_t>(command_.src_row_stride) +
                        static_cast<uint32_t>(in_x) * static_cast<uint32_t>(command_.src_pixel_stride) +
                        static_cast<uint32_t>(channel * tile_.src_bytes));
    }
    return positions;
  }

  [[nodiscard]] uint64_t block_end(uint64_t block) const { return std::min(block + block_, tile_.pixels); }
  [[nodiscard]] uint32_t columns(uint64_t group) const {
    return static_cast<uint32_t>(std::min<uint64_t>(caps_.mxu_cols, command_.out_c - group * caps_.mxu_cols));
  }
  // Of the reduction: where a step begins, and how much of it it takes. With many channels, up to a kernel position's
  // end.
  [[nodiscard]] uint64_t first(uint64_t step) const {
    return packed_ ? step * slots_ : step / chunks_ * command_.in_c + step % chunks_ * slots_;
  }
  [[nodiscard]] uint32_t elements(uint64_t step) const {
    const uint64_t left = packed_ ? tile_.reduction - first(step) : command_.in_c - step % chunks_ * slots_;
    return static_cast<uint32_t>(std::min(slots_, left));
  }

  const MxuTile& tile_;
  const MxuCommand& command_ = tile_.command;
  const Capabilities& caps_;
  const uint32_t side_by_side_ = 1U << command_.side_by_side_log2;
  size_t limit_;
  bool depthwise_, packed_;  // packed: a step takes several kernel positions
  uint64_t slots_, chunks_, steps_, groups_, block_;
};

void choose_types(MxuCommand& command, Random& random, bool residual) {
  command.mode = random.pick({MxuMode::kConv, MxuMode::kDepthwise, MxuMode::kMatmul});
  const bool wide = random.chance(30);
  command.src_type = wide ? Element::kI16 : Element::kI8;
  command.weight_type = wide && command.mode == MxuMode::kMatmul ? Element::kI16 : Element::kI8;
  command.rescale = random.pick({Rescale::kNone, Rescale::kSingle16});
  command.dst_type = random.pick({Element::kI8, Element::kI16, Element::kI32});
  if (!wide && residual && random.chance(40)) {
    command.rescale = Rescale::kDouble32;
    command.dst_type = Element::kI8;
    command.residual = contract::Residual::kScaleValue;
  }
  if (command.rescale == Rescale::kNone) command.dst_type = wide ? Element::kI48 : Element::kI32;
}

// Of a convolution: several pixels at once, of which the results are one run.
void put_side_by_side(MxuCommand& command, const Capabilities& caps, Random& random) {
  command.side_by_side_log2 = static_cast<uint32_t>(random.between(1, std::countr_zero(caps.mxu_split)));
  const uint32_t pixels = 1U << command.side_by_side_log2;
  command.out_w = std::max(pixels, command.out_w / pixels * pixels);
  command.out_c = caps.mxu_cols / pixels;
  if (command.mode == MxuMode::kDepthwise) {
    command.multiplier = std::min(command.out_c, random.pick({1U, 2U, 4U}));
    command.in_c = command.out_c / command.multiplier;
  }
  command.dst_pixel_stride = static_cast<int32_t>(command.out_c * element_bytes(command.dst_type));
  command.residual_pixel_stride = static_cast<int32_t>(command.out_c);
}

// make_tile() and RTL take it.
bool possible(const MxuCommand& command) {
  MxuTile tile;
  if (MxuTile::make(command, tile) != contract::ErrorCode::kOk) return false;
  const auto reach = [](uint32_t kernel, uint32_t dilation) { return int64_t{kernel - 1} * dilation; };
  return command.mode == MxuMode::kMatmul ||
         (countable(command.out_h, command.stride_y, command.pad_top, reach(command.kernel_h, command.dilation_y)) &&
          countable(command.out_w, command.stride_x, command.pad_left, reach(command.kernel_w, command.dilation_x)));
}

MxuCommand any_command(Random& random, const Capabilities& caps) {
  MxuCommand command;
  choose_types(command, random, caps.mxu_residual != 0);
  const std::vector<uint32_t> sizes =
      any_sizes(random, std::bit_width(engine::kMaxTileMacs) - 1, {32, 32, 32, 32, 16, 16});
  command.out_h = sizes[0], command.out_w = sizes[1], command.out_c = sizes[2], command.in_c = sizes[3];
  command.kernel_h = sizes[4], command.kernel_w = sizes[5];
  if (command.mode == MxuMode::kDepthwise) {
    command.multiplier = sizes[2];
    command.out_c = sizes[2] * sizes[3];
  }
  command.in_h = any_size(random, 31), command.in_w = any_size(random, 31);
  if (command.mode == MxuMode::kMatmul) {
    command.in_h = command.out_h = 1;
    command.in_w = command.out_w;
  }
  command.stride_y = any_step(random, command.out_h), command.stride_x = any_step(random, command.out_w);
  command.dilation_y = any_step(random, command.kernel_h), command.dilation_x = any_step(random, command.kernel_w);
  command.pad_top = any_pad(random), command.pad_left = any_pad(random);
  for (int32_t* stride :
       {&command.src_row_stride, &command.src_pixel_stride, &command.dst_row_stride, &command.dst_pixel_stride,
        &command.w_stride, &command.residual_row_stride, &command.residual_pixel_stride}) {
    *stride = any_stride(random);
  }
  if (command.mode != MxuMode::kMatmul && caps.mxu_split > 1 && random.chance(40)) {
    put_side_by_side(command, caps, random);
  }
  return command;
}

class HugeMxu : public testing::TestWithParam<const char*> {
 protected:
  // Up to `most_cycles` of a tile.
  void run(const MxuCommand& command, const Bytes& memory, Throttle throttle, uint64_t most_cycles,
           const std::string& text) {
    MxuTile tile;
    ASSERT_EQ(MxuTile::make(command, tile), contract::ErrorCode::kOk) << text;
    const Loops loops(tile, caps_, most_cycles + 1);
    PortCheck ports(timing::mxu_ports(command, caps_),
                    {loops.activations(), loops.weights(), loops.parameters(), loops.results(), loops.residual()},
                    throttle, text);
    block_->start(command);
    block_->tick();
    while (ports.cycles() < most_cycles && !block_->done() && !HasFailure()) {
      handshake(*block_, [&](const auto& request) {
        if (!ports.asks(cosim::port_of(request), numbers(request))) return false;
        serve(request, memory);
        return true;
      });
      block_->tick();
      ports.end_cycle(block_->done());
    }
    cycles_ += ports.cycles();
    requests_ += ports.requests();
  }

  void run_small(Random& random) {
    const cosim::MxuShape shape = cosim::random_mxu_shape(random, caps_, 400);
    cosim::MadeTile<MxuCommand> tile = cosim::make_mxu_tile(shape, random);
    engine::testing::TestMemory memory(tile.bytes);
    const MxuCommand& command = tile.command;
    ASSERT_EQ(model_->run(cosim::encode(command), memory, /*timed=*/false).error, contract::ErrorCode::kOk);
    const std::vector<uint32_t> bases = {command.src.offset, command.weights.offset, command.params.offset,
                                         command.dst.offset, command.residual_src.offset};
    run(command, bytes_of(tile.bytes, bases), Throttle(0, 100), 2'000, "small tile, " + shape.describe());
    EXPECT_TRUE(block_->done()) << shape.describe();
    EXPECT_EQ(tile.bytes, memory.scratchpad()) << shape.describe();
  }

  void TearDown() override { fmt::print("{}: {} requests in {} cycles compared\n", GetParam(), requests_, cycles_); }

  const Capabilities caps_ = sizes_of(GetParam());
  std::unique_ptr<MacArray> block_ = make_mac_array(GetParam());
  std::unique_ptr<engine::Engine> model_ = engine::make_mxu_model(caps_);
  uint64_t cycles_ = 0, requests_ = 0;
};

TEST_P(HugeMxu, FirstCyclesAndSmallTileBehindReset) {
  Random random(seed(2'500));
  for (int trial = 0; trial < 600 && !HasFailure(); ++trial) {
    MxuCommand command = any_command(random, caps_);
    while (!possible(command)) command = any_command(random, caps_);
    const std::string text =
        fmt::format("trial {}, seed {}: {}, {}x{}x{} to {}x{}x{}, kernel {}x{}", trial, random.seed(),
                    name(command.mode), command.in_h, command.in_w, command.in_c, command.out_h, command.out_w,
                    command.out_c, command.kernel_h, command.kernel_w);
    run(command, any_bytes(), Throttle(random.bits(), random.pick({100u, 100u, 60u})), 300, text);
    block_->reset();
    if (!HasFailure()) run_small(random);
  }
}

INSTANTIATE_TEST_SUITE_P(Presets, HugeMxu, testing::ValuesIn(built_machines()));

}  // namespace
}  // namespace npu::rtl::test
