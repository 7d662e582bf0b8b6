// SPDX-License-Identifier: Apache-2.0
// The VPU's RTL under commands of all sizes that make_tile() takes: their first cycles, and a small tile behind a
// reset.
#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "hw/engine/vpu_ewise.h"
#include "hw/engine/vpu_model.h"
#include "hw/engine/vpu_pool.h"
#include "hw/engine/vpu_reduce.h"
#include "hw/timing/vpu_ports.h"
#include "rtl/verilated/machines.h"
#include "rtl/verilated/vpu.h"
#include "sim/cosim/random_ewise.h"
#include "sim/cosim/random_vpu.h"
#include "sim/cosim/rtl_ports.h"
#include "tests/block/huge.h"
#include "tests/unit/engine/support.h"

namespace npu::rtl::test {
namespace {

using contract::Capabilities;
using contract::Element;
using contract::PoolMode;
using contract::ReduceOp;
using contract::Uop;
using contract::UopCode;
using contract::VpuEwiseCommand;
using contract::VpuPoolCommand;
using contract::VpuReduceCommand;

// Requests as numbers.
Request numbers(const Vpu::Parameters& request) { return {request.operand, request.offset, request.bytes}; }
Request numbers(uint32_t operand, uint32_t element_bytes, uint64_t lanes) {
  return {operand, element_bytes, static_cast<uint32_t>(lanes), static_cast<uint32_t>(lanes >> 32)};
}
template <class Access>
Request numbers(const Access& request) {
  Request numbers = test::numbers(request.operand, request.element_bytes, request.lanes);
  for (uint64_t left = request.lanes; left != 0; left &= left - 1) {
    numbers.push_back(request.offsets[std::countr_zero(left)]);
  }
  return numbers;
}

void serve(const Vpu::Parameters& request, const Bytes& memory) {
  for (uint32_t b = 0; b < request.bytes; ++b) request.data[b] = memory.read(request.operand, request.offset + b);
}
void serve(const Vpu::Read& request, const Bytes& memory) {
  for (uint64_t left = request.lanes; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    request.data[lane] = 0;
    for (uint32_t b = 0; b < request.element_bytes; ++b) {
      request.data[lane] |= uint32_t{memory.read(request.operand, request.offsets[lane] + b)} << 8 * b;
    }
  }
}
void serve(const Vpu::Write& request, const Bytes& memory) {
  for (uint64_t left = request.lanes; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    for (uint32_t b = 0; b < request.element_bytes; ++b) {
      memory.write(request.operand, request.offsets[lane] + b, static_cast<uint8_t>(request.data[lane] >> 8 * b));
    }
  }
}

// The first `limit` requests of a tile, port by port.
class Requests {
 public:
  Requests(const Capabilities& caps, size_t limit) : lanes_(caps.vpu_lanes), tree_(caps.vpu_tree != 0), limit_(limit) {}

  // The walk over four dimensions, a vector of lanes after the other; the whole program for each.
  PortRequests of(const VpuEwiseCommand& command) {
    for (uint32_t i = 0; i < command.operands.size(); ++i) add_parameters(i, command.operands[i].bytes);
    uint64_t elements = 1;
    for (const uint32_t dim : command.dims) elements *= dim;
    for (uint64_t first = 0; first < elements && !enough(); first += lanes_) {
      for (const Uop& uop : command.uops) {
        if (uop.op == UopCode::kLoad) add_element_wise(kReads, uop.a, command, first, elements);
        if (uop.op == UopCode::kStore) add_element_wise(kWrites, uop.b, command, first, elements);
      }
    }
    return std::move(list_);
  }

  // Results of [out_h][out_w][channels], a vector after the other; all positions of the window for each.
  PortRequests of(const VpuPoolCommand& command) {
    if (command.mode == PoolMode::kAvg) add_parameters(2, contract::ParameterHeader::kBytes);
    const auto bytes = static_cast<uint32_t>(element_bytes(command.type));
    const uint64_t results = uint64_t{command.out_h} * command.out_w * command.channels;
    for (uint64_t first = 0; first < results && !enough(); first += lanes_) {
      const auto place = [&](uint64_t result) {
        const uint64_t pixel = result / command.channels;
        return std::array<int64_t, 3>{static_cast<int64_t>(pixel / command.out_w),
                                      static_cast<int64_t>(pixel % command.out_w),
                                      static_cast<int64_t>(result % command.channels)};
      };
      for (int64_t tap = 0; tap < int64_t{command.kernel_h} * command.kernel_w && !enough(); ++tap) {
        add(kReads, 0, bytes, first, results, [&](uint64_t result, uint32_t& offset) {
          const auto [out_y, out_x, channel] = place(result);
          const int64_t y = out_y * command.stride_y - command.pad_top + tap / command.kernel_w;
          const int64_t x = out_x * command.stride_x - command.pad_left + tap % command.kernel_w;
          offset = at({y, x, channel}, {command.src_row_stride, command.src_pixel_stride, static_cast<int32_t>(bytes)});
          return y >= 0 && y < command.in_h && x >= 0 && x < command.in_w;
        });
      }
      add(kWrites, 1, bytes, first, results, [&](uint64_t result, uint32_t& offset) {
        const auto [y, x, channel] = place(result);
        offset = at({y, x, channel}, {command.dst_row_stride, command.dst_pixel_stride, static_cast<int32_t>(bytes)});
        return true;
      });
    }
    return std::move(list_);
  }

  // With inner elements: vectors of [outer][inner], along the axis for each. Without: vectors of the axis for each
  // outer, and with a tree the results of as many as there are lanes in one store.
  PortRequests of(const VpuReduceCommand& command) {
    const auto bytes = static_cast<uint32_t>(element_bytes(command.type));
    const uint32_t dst_bytes = command.op == ReduceOp::kArgmax ? 4 : bytes;
    const bool across = command.inner == 1;
    const uint64_t results = uint64_t{command.outer} * command.inner;
    const bool together = tree_ && command.op != ReduceOp::kProduct && command.op != ReduceOp::kArgmax;
    const uint64_t stored = across && !together ? 1 : lanes_;
    for (uint64_t first = 0; first < results && !enough(); first += stored) {
      const uint64_t end_of_store = std::min(first + stored, results);
      for (uint64_t row = first; row < (across ? end_of_store : first + 1) && !enough(); ++row) {
        for (uint64_t i = 0; i < command.axis && !enough(); i += across ? lanes_ : 1) {
          const uint64_t begin = across ? i : first, end = across ? command.axis : results;
          add(kReads, 0, bytes, begin, end, [&](uint64_t element, uint32_t& offset) {
            const uint64_t result = across ? row : element, place = across ? element : i;
            offset = at({static_cast<int64_t>(result / command.inner), static_cast<int64_t>(place),
                         static_cast<int64_t>(result % command.inner)},
                        {command.src_outer_stride, command.src_axis_stride, static_cast<int32_t>(bytes)});
            return true;
          });
        }
      }
      add(kWrites, 1, dst_bytes, first, end_of_store, [&](uint64_t result, uint32_t& offset) {
        offset = at({static_cast<int64_t>(result / command.inner), static_cast<int64_t>(result % command.inner)},
                    {command.dst_outer_stride, static_cast<int32_t>(dst_bytes)});
        return true;
      });
    }
    return std::move(list_);
  }

 private:
  enum Port { kParameters, kReads, kWrites };

  [[nodiscard]] bool enough() const { return list_[kReads].size() >= limit_ || list_[kWrites].size() >= limit_; }

  // Offsets wrap at 32 bits.
  static uint32_t at(std::initializer_list<int64_t> place, std::initializer_list<int32_t> strides) {
    uint32_t offset = 0;
    for (size_t i = 0; i < place.size(); ++i) {
      offset += static_cast<uint32_t>(place.begin()[i]) * static_cast<uint32_t>(strides.begin()[i]);
    }
    return offset;
  }

  void add_parameters(uint32_t operand, uint32_t bytes) {
    for (uint32_t at = 0; at < bytes; at += 4 * lanes_) {
      list_[kParameters].push_back({operand, at, std::min(4 * lanes_, bytes - at)});
    }
  }

  // Elements from `first` on, a lane each; `offset_of(element, offset)` is false for those that are not asked for.
  template <class OffsetOf>
  void add(Port port, uint32_t operand, uint32_t element_bytes, uint64_t first, uint64_t end,
           const OffsetOf& offset_of) {
    uint64_t lanes = 0;
    Request offsets;
    for (uint32_t lane = 0; lane < std::min<uint64_t>(lanes_, end - first); ++lane) {
      uint32_t offset = 0;
      if (!offset_of(first + lane, offset)) continue;
      lanes |= uint64_t{1} << lane;
      offsets.push_back(offset);
    }
    Request request = numbers(operand, element_bytes, lanes);
    request.insert(request.end(), offsets.begin(), offsets.end());
    list_[port].push_back(std::move(request));
  }

  // 48 bits go in two halves.
  void add_element_wise(Port port, uint32_t index, const VpuEwiseCommand& command, uint64_t first, uint64_t end) {
    const contract::Operand& operand = command.operands[index];
    const bool wide = operand.type == Element::kI48;
    const uint32_t bytes = wide ? 4 : static_cast<uint32_t>(element_bytes(operand.type));
    for (uint32_t half = 0; half < (wide ? 2 : 1); ++half) {
      add(port, index, bytes, first, end, [&](uint64_t element, uint32_t& offset) {
        offset = 4 * half;
        for (size_t d = command.dims.size(); d-- > 0; element /= command.dims[d]) {
          offset += static_cast<uint32_t>(element % command.dims[d]) * static_cast<uint32_t>(operand.stride[d]);
        }
        return true;
      });
    }
  }

  uint32_t lanes_;
  bool tree_;
  size_t limit_;
  PortRequests list_;
};

// Loads and stores of random operands.
VpuEwiseCommand any_ewise(Random& random) {
  VpuEwiseCommand command;
  const int64_t operands = random.between(1, contract::kMaxOperands), uops = random.between(1, 8);
  for (int64_t i = 0; i < operands; ++i) {
    contract::Operand& operand = command.operands.emplace_back();
    operand.type = random.pick({Element::kI8, Element::kI16, Element::kI32, Element::kI48, Element::kBool});
    for (int32_t& stride : operand.stride) stride = any_stride(random);
  }
  command.register_count = 2;
  const auto operand = [&] { return static_cast<uint32_t>(random.between(0, operands - 1)); };
  command.uops.push_back({UopCode::kLoad, 0, operand(), 0, 0, 0});
  for (int64_t i = 0; i < uops; ++i) {
    command.uops.push_back(random.chance(50) ? Uop{UopCode::kLoad, 1, operand(), 0, 0, 0}
                                             : Uop{UopCode::kStore, 0, 0, operand(), 0, 0});
  }
  const uint64_t elements = engine::kMaxTileUops / command.uops.size();
  const auto bits = static_cast<unsigned>(std::bit_width(elements) - 1);
  const std::vector<uint32_t> dims = any_sizes(random, bits, {32, 32, 32, 32});
  std::copy(dims.begin(), dims.end(), command.dims.begin());
  return command;
}

VpuPoolCommand any_pool(Random& random) {
  VpuPoolCommand command;
  command.mode = random.pick({PoolMode::kMax, PoolMode::kAvg});
  command.type = random.pick({Element::kI8, Element::kI16});
  const std::vector<uint32_t> sizes = any_sizes(random, 34, {32, 32, 32, 16, 16});
  command.out_h = sizes[0], command.out_w = sizes[1], command.channels = sizes[2];
  command.kernel_h = sizes[3], command.kernel_w = sizes[4];
  command.in_h = any_size(random, 31), command.in_w = any_size(random, 31);
  command.stride_y = any_step(random, command.out_h), command.stride_x = any_step(random, command.out_w);
  command.pad_top = any_pad(random), command.pad_left = any_pad(random);
  for (int32_t* stride :
       {&command.src_row_stride, &command.src_pixel_stride, &command.dst_row_stride, &command.dst_pixel_stride}) {
    *stride = any_stride(random);
  }
  return command;
}

VpuReduceCommand any_reduce(Random& random) {
  VpuReduceCommand command;
  command.op = random.pick({ReduceOp::kSum, ReduceOp::kProduct, ReduceOp::kMax, ReduceOp::kMin, ReduceOp::kAll,
                            ReduceOp::kAny, ReduceOp::kArgmax, ReduceOp::kArgmax});
  command.type = random.pick({Element::kI8, Element::kI16, Element::kI32});
  if (command.op == ReduceOp::kSum || command.op == ReduceOp::kProduct) command.type = Element::kI32;
  if (command.op == ReduceOp::kAll || command.op == ReduceOp::kAny) command.type = Element::kBool;
  const std::vector<uint32_t> sizes = any_sizes(random, 32, {32, 32, random.chance(40) ? 0u : 32u});
  command.outer = sizes[0], command.axis = sizes[1], command.inner = sizes[2];
  command.src_outer_stride = any_stride(random), command.src_axis_stride = any_stride(random);
  command.dst_outer_stride = any_stride(random);
  return command;
}

// make_tile() and RTL take it.
template <class Tile, class Command>
bool accepted(const Command& command) {
  Tile tile;
  return Tile::make(command, tile) == contract::ErrorCode::kOk;
}
bool possible(const VpuEwiseCommand& command) { return accepted<engine::EwiseTile>(command); }
bool possible(const VpuPoolCommand& command) {
  return accepted<engine::PoolTile>(command) &&
         countable(command.out_h, command.stride_y, command.pad_top, command.kernel_h) &&
         countable(command.out_w, command.stride_x, command.pad_left, command.kernel_w);
}
bool possible(const VpuReduceCommand& command) { return accepted<engine::ReduceTile>(command); }

std::vector<uint32_t> bases(const VpuEwiseCommand& command) {
  std::vector<uint32_t> bases;
  for (const contract::Operand& operand : command.operands) bases.push_back(operand.base.offset);
  return bases;
}
std::vector<uint32_t> bases(const VpuPoolCommand& command) {
  return {command.src.offset, command.dst.offset, command.params.offset};
}
std::vector<uint32_t> bases(const VpuReduceCommand& command) { return {command.src.offset, command.dst.offset}; }

class HugeVpu : public testing::TestWithParam<const char*> {
 protected:
  // Up to `most_cycles` of a tile.
  template <class Command>
  void run(const Command& command, const Bytes& memory, Throttle throttle, uint64_t most_cycles,
           const std::string& text) {
    PortCheck ports(timing::vpu_ports(command, caps_), Requests(caps_, most_cycles + 1).of(command), throttle, text);
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

  template <class Command>
  void run_small(cosim::MadeTile<Command> tile) {
    const std::string text = "small tile, " + cosim::describe(tile.command);
    engine::testing::TestMemory memory(tile.bytes);
    ASSERT_EQ(model_->run(cosim::encode(tile.command), memory, /*timed=*/false).error, contract::ErrorCode::kOk);
    run(tile.command, bytes_of(tile.bytes, bases(tile.command)), Throttle(0, 100), 20'000, text);
    EXPECT_TRUE(block_->done()) << text;
    EXPECT_EQ(tile.bytes, memory.scratchpad()) << text;
  }
  void run_small(Random& random) {
    const int kind = static_cast<int>(random.between(0, 2));
    if (kind == 0) run_small(cosim::make_ewise_tile(cosim::random_ewise(random, caps_, 1'000), random));
    if (kind == 1) run_small(cosim::make_pool_tile(cosim::random_pool(random, caps_.vpu_lanes), random));
    if (kind == 2) run_small(cosim::make_reduce_tile(cosim::random_reduce(random, caps_.vpu_lanes), random));
  }

  // First cycles of huge commands, resets, and small tiles of any kind behind them.
  template <class Make>
  void first_cycles(const Make& make, Random& random) {
    for (int trial = 0; trial < 500 && !HasFailure(); ++trial) {
      auto command = make(random);
      while (!possible(command)) command = make(random);
      run(command, any_bytes(), Throttle(random.bits(), random.pick({100u, 100u, 60u})), 300,
          fmt::format("trial {}, seed {}: {}", trial, random.seed(), cosim::describe(command)));
      block_->reset();
      if (!HasFailure()) run_small(random);
    }
  }

  void TearDown() override { fmt::print("{}: {} requests in {} cycles compared\n", GetParam(), requests_, cycles_); }

  const Capabilities caps_ = sizes_of(GetParam());
  std::unique_ptr<Vpu> block_ = make_vpu(GetParam());
  std::unique_ptr<engine::Engine> model_ = engine::make_vpu_model(caps_);
  uint64_t cycles_ = 0, requests_ = 0;
};

TEST_P(HugeVpu, FirstCyclesOfProgramsAndSmallTileBehindReset) {
  Random random(seed(2'600));
  first_cycles(any_ewise, random);
}

TEST_P(HugeVpu, FirstCyclesOfPoolingsAndSmallTileBehindReset) {
  Random random(seed(2'700));
  first_cycles(any_pool, random);
}

TEST_P(HugeVpu, FirstCyclesOfReductionsAndSmallTileBehindReset) {
  Random random(seed(2'800));
  first_cycles(any_reduce, random);
}

// To their end, so that places have many bits.
TEST_P(HugeVpu, LongDimensions) {
  Random random(seed(2'900));
  for (size_t d = 0; d < 4 && !HasFailure(); ++d) {
    VpuEwiseCommand command;
    command.dims = {1, 1, 1, 1};
    command.dims.at(d) = caps_.vpu_lanes << 16;
    command.register_count = 1;
    command.operands.resize(2);
    for (contract::Operand& operand : command.operands) operand.stride.at(d) = any_stride(random);
    command.uops = {{UopCode::kLoad, 0, 0, 0, 0, 0}, {UopCode::kStore, 0, 0, 1, 0, 0}};
    run(command, any_bytes(), Throttle(0, 100), 1 << 18, "dimension " + std::to_string(d));
    EXPECT_TRUE(block_->done()) << "dimension " << d;
  }
}

// Of numbers that grow the last one is the greatest.
TEST_P(HugeVpu, ArgmaxOfLongAxes) {
  for (const bool across : {true, false}) {
    VpuReduceCommand command;
    command.op = ReduceOp::kArgmax;
    command.type = Element::kI32;
    command.outer = 1;
    command.axis = across ? caps_.vpu_lanes << 17 : 1u << 18;
    command.inner = across ? 1 : caps_.vpu_lanes;
    command.src_axis_stride = static_cast<int32_t>(4 * command.inner);
    const auto number = [](uint32_t, uint32_t offset) { return static_cast<uint8_t>(offset / 4 >> 8 * (offset % 4)); };
    std::vector<uint8_t> results(size_t{4} * command.inner);
    const auto keep = [&](uint32_t, uint32_t offset, uint8_t byte) { results.at(offset) = byte; };
    run(command, {number, keep}, Throttle(0, 100), 1 << 20, cosim::describe(command));
    EXPECT_TRUE(block_->done());
    for (uint32_t i = 0; i < command.inner; ++i) {
      uint32_t index = 0;
      std::memcpy(&index, results.data() + size_t{4} * i, 4);
      EXPECT_EQ(index, command.axis - 1) << "of lane " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Presets, HugeVpu, testing::ValuesIn(built_machines()));

}  // namespace
}  // namespace npu::rtl::test
