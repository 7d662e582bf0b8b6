// SPDX-License-Identifier: Apache-2.0
// Reductions and poolings of floating point against values that are joined one by one in the order of the contract, on
// every kernel set of this machine.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "hw/engine/vpu_model.h"
#include "sim/cosim/random_floats.h"
#include "sim/cosim/random_vpu.h"
#include "tests/unit/engine/scalar_float_sums.h"
#include "tests/unit/engine/scalar_floats.h"
#include "tests/unit/engine/scalar_math.h"
#include "tests/unit/engine/support.h"

namespace npu::engine::testing {
namespace {

using contract::Capabilities;
using contract::Element;
using contract::ErrorCode;
using contract::PoolMode;
using contract::ReduceOp;
using contract::VpuPoolCommand;
using contract::VpuReduceCommand;

Capabilities machine(uint32_t lanes, uint32_t tree) {
  Capabilities caps = test_machine();
  caps.vpu_lanes = lanes;
  caps.vpu_tree = tree;
  return caps;
}

class FloatVpu : public ::testing::Test {
 protected:
  // The command on every kernel set; `expected` is the scratchpad behind it.
  template <class Command>
  void run(const cosim::MadeTile<Command>& tile, const Capabilities& caps, const std::vector<uint8_t>& expected,
           int64_t elements, const std::string& what) {
    for (const Kernels* kernels : supported_kernels()) {
      TestMemory memory(tile.bytes);
      ASSERT_EQ(make_vpu_model(caps, *kernels)->run(encode(tile.command), memory, /*timed=*/true).error, ErrorCode::kOk)
          << what;
      ASSERT_EQ(memory.scratchpad(), expected) << what << ", on " << kernels->name;
      compared_ += elements;
    }
  }

  void check(const VpuReduceCommand& shape, const Capabilities& caps, Random& random);
  void check(const VpuPoolCommand& shape, Random& random);
  void TearDown() override { std::printf("%lld elements compared\n", static_cast<long long>(compared_)); }

  int64_t compared_ = 0;
};

uint32_t value_at(const uint8_t* element, Element type) { return scalar::widen(type, load_pattern(element, type)); }

void FloatVpu::check(const VpuReduceCommand& shape, const Capabilities& caps, Random& random) {
  cosim::MadeTile<VpuReduceCommand> tile = cosim::make_reduce_tile(shape, random);
  const VpuReduceCommand& command = tile.command;
  const bool argmax = command.op == ReduceOp::kArgmax;
  const Element out = argmax ? Element::kI32 : command.type;
  std::vector<uint8_t> expected = tile.bytes;
  for (int64_t o = 0; o < command.outer; ++o) {
    for (int64_t j = 0; j < command.inner; ++j) {
      std::vector<uint32_t> values;
      for (int64_t i = 0; i < command.axis; ++i) {
        values.push_back(value_at(tile.at(command.src) + o * command.src_outer_stride + i * command.src_axis_stride +
                                      j * static_cast<int64_t>(element_bytes(command.type)),
                                  command.type));
      }
      // A result is that of an operation, even of a single element: a NaN is the one that they make.
      const auto number = [](uint32_t value) { return scalar::is_nan(value) ? scalar::kNan : value; };
      const int64_t result = argmax ? scalar::index_of_greatest(values, command.ignore_nan != 0)
                                    : scalar::narrow(command.type, number(scalar::reduce(command, caps, values)));
      store(expected.data() + command.dst.offset + o * command.dst_outer_stride +
                j * static_cast<int64_t>(element_bytes(out)),
            out, result);
    }
  }
  run(tile, caps, expected, int64_t{command.outer} * command.inner,
      cosim::kind(command) + ' ' + cosim::describe(command) + ", lanes " + std::to_string(caps.vpu_lanes) + " tree " +
          std::to_string(caps.vpu_tree) + ", " + random.name());
}

void FloatVpu::check(const VpuPoolCommand& shape, Random& random) {
  cosim::MadeTile<VpuPoolCommand> tile = cosim::make_pool_tile(shape, random);
  const VpuPoolCommand& command = tile.command;
  const int64_t bytes = element_bytes(command.type);
  // Zero points do not count.
  contract::ParameterHeader header;
  header.input_zp = 5;
  header.output_zp = -7;
  header.store(tile.at(command.params));
  std::vector<uint8_t> expected = tile.bytes;
  for (int64_t oy = 0; oy < command.out_h; ++oy) {
    for (int64_t ox = 0; ox < command.out_w; ++ox) {
      for (int64_t c = 0; c < command.channels; ++c) {
        std::vector<uint32_t> values;
        for (int64_t ky = 0; ky < command.kernel_h; ++ky) {
          for (int64_t kx = 0; kx < command.kernel_w; ++kx) {
            const int64_t y = oy * command.stride_y - command.pad_top + ky;
            const int64_t x = ox * command.stride_x - command.pad_left + kx;
            if (y < 0 || y >= command.in_h || x < 0 || x >= command.in_w) continue;
            values.push_back(
                value_at(tile.at(command.src) + y * command.src_row_stride + x * command.src_pixel_stride + c * bytes,
                         command.type));
          }
        }
        const uint32_t result = scalar::pool(command, values);
        const uint32_t one_nan = scalar::is_nan(result) ? scalar::kNan : result;
        store(expected.data() + command.dst.offset + oy * command.dst_row_stride + ox * command.dst_pixel_stride +
                  c * bytes,
              command.type, scalar::narrow(command.type, one_nan));
      }
    }
  }
  run(tile, test_machine(), expected, int64_t{command.out_h} * command.out_w * command.channels,
      cosim::kind(command) + ' ' + cosim::describe(command) + ", " + random.name());
}

TEST_F(FloatVpu, RandomReductions) {
  Random random(501);
  std::map<std::string, int> kinds;
  for (int i = 0; i < 1200 && !HasFatalFailure(); ++i) {
    const Capabilities caps = machine(random.pick<uint32_t>({4, 8, 64, 256}), i % 2);
    VpuReduceCommand shape = cosim::random_reduce(random, caps.vpu_lanes);
    make_float(shape, random);
    shape.outer = std::min(shape.outer, 8U);
    shape.axis = std::min(shape.axis, 4000 / shape.inner + 1);
    ++kinds[cosim::kind(shape)];
    check(shape, caps, random);
  }
  // Sum and product of 3 formats; max and min, and with NaNs ignored; argmax of 5.
  EXPECT_EQ(kinds.size(), 2 * 3 + 2 * 2 * 3 + 2 * 5U);
}

// Across the lanes: every number of elements up to a few vectors.
TEST_F(FloatVpu, EveryLengthOfAnAxis) {
  Random random(502);
  for (const uint32_t tree : {0U, 1U}) {
    for (uint32_t axis = 1; axis <= 70; ++axis) {
      for (const ReduceOp op : {ReduceOp::kSum, ReduceOp::kProduct, ReduceOp::kMax, ReduceOp::kMin}) {
        VpuReduceCommand shape;
        shape.header.queue = contract::Queue::kVpu;
        shape.op = op;
        shape.type = random_result_format(random);
        shape.ignore_nan = op == ReduceOp::kMax || op == ReduceOp::kMin ? axis % 2 : 0;
        shape.outer = 2;
        shape.axis = axis;
        shape.inner = 1;
        check(shape, machine(16, tree), random);
        shape.inner = 3;
        check(shape, machine(16, tree), random);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// Runs one reduction over FP32 patterns, which lie densely.
uint32_t reduced(VpuReduceCommand command, const std::vector<uint32_t>& values, const Capabilities& caps,
                 const Kernels& kernels) {
  command.header.queue = contract::Queue::kVpu;
  command.outer = command.inner = 1;
  command.axis = static_cast<uint32_t>(values.size());
  command.type = Element::kF32;
  command.src_axis_stride = 4;
  command.src = scratchpad(0);
  command.dst = scratchpad(command.axis * 4);
  TestMemory memory(values.size() * 4 + 4);
  for (size_t i = 0; i < values.size(); ++i) contract::detail::store(memory.scratchpad().data() + 4 * i, values[i]);
  EXPECT_EQ(make_vpu_model(caps, kernels)->run(encode(command), memory, false).error, ErrorCode::kOk);
  return contract::detail::load<uint32_t>(memory.at(command.dst));
}

TEST_F(FloatVpu, ReductionsOfWhatIsNotOrdinary) {
  constexpr uint32_t kOne = 0x3f800000, kTwo = 0x40000000, kSignalling = 0x7f800001, kNegativeNan = 0xffc12345;
  constexpr uint32_t kMinusZero = scalar::kMinus;
  struct Reduction {
    ReduceOp op;
    uint32_t ignore_nan;
    std::vector<uint32_t> values;
    uint32_t result;
  };
  const Reduction reductions[] = {
      // The first of equal ones: of zeros its sign shows.
      {ReduceOp::kMax, 0, {kMinusZero, 0}, kMinusZero},
      {ReduceOp::kMax, 0, {0, kMinusZero}, 0},
      {ReduceOp::kMin, 0, {0, kMinusZero}, 0},
      {ReduceOp::kSum, 0, {kMinusZero, kMinusZero}, kMinusZero},
      {ReduceOp::kSum, 0, {kMinusZero}, kMinusZero},
      // A NaN is the one of the contract, even when it is alone.
      {ReduceOp::kSum, 0, {kSignalling}, scalar::kNan},
      {ReduceOp::kMax, 0, {kOne, kNegativeNan, kTwo}, scalar::kNan},
      {ReduceOp::kMin, 1, {kNegativeNan, kTwo, kSignalling, kOne}, kOne},
      {ReduceOp::kMax, 1, {kNegativeNan, kSignalling}, scalar::kNan},
      {ReduceOp::kMax, 1, {kNegativeNan}, scalar::kNan},
      // NaNs are above infinity, or below all numbers. They and zeros are equal to each other.
      {ReduceOp::kArgmax, 0, {kOne, kNegativeNan, scalar::kInfinity, kSignalling}, 1},
      {ReduceOp::kArgmax, 1, {kNegativeNan, kSignalling, scalar::kInfinity | scalar::kMinus, kOne}, 3},
      {ReduceOp::kArgmax, 1, {kSignalling, scalar::kInfinity | scalar::kMinus}, 1},
      {ReduceOp::kArgmax, 1, {kSignalling, kNegativeNan}, 0},
      {ReduceOp::kArgmax, 0, {kMinusZero, 0, kMinusZero}, 0},
      {ReduceOp::kArgmax, 0, {0xbf800000, kMinusZero, 0}, 1},
      {ReduceOp::kArgmax, 0, {0x80000002, 0x80000001, 1, 1}, 2},
  };
  for (const Kernels* kernels : supported_kernels()) {
    for (const uint32_t tree : {0U, 1U}) {
      for (const Reduction& reduction : reductions) {
        VpuReduceCommand command;
        command.op = reduction.op;
        command.ignore_nan = reduction.ignore_nan;
        EXPECT_EQ(reduced(command, reduction.values, machine(8, tree), *kernels), reduction.result)
            << name(reduction.op) << " of " << reduction.values.size() << ", case " << &reduction - reductions << " on "
            << kernels->name;
        ++compared_;
      }
    }
  }
}

// An axis of the same bytes again has more elements than memory could hold apart.
TEST_F(FloatVpu, RepeatedElementsTakeNoMemory) {
  constexpr uint32_t kAxis = 1'000'000, kInner = 16;
  Capabilities caps = machine(64, 1);
  VpuReduceCommand command;
  command.header.queue = contract::Queue::kVpu;
  command.type = Element::kF32;
  command.op = ReduceOp::kMax;
  command.outer = 1;
  command.axis = kAxis;
  command.src = scratchpad(0);
  command.dst = scratchpad(4 * kInner);
  for (const uint32_t inner : {1U, kInner}) {
    command.inner = inner;
    TestMemory memory(4 * 2 * kInner);
    for (uint32_t i = 0; i < inner; ++i) contract::detail::store(memory.scratchpad().data() + 4 * i, 0x3f800000 + i);
    ASSERT_EQ(make_vpu_model(caps)->run(encode(command), memory, false).error, ErrorCode::kOk);
    for (uint32_t i = 0; i < inner; ++i) {
      EXPECT_EQ(contract::detail::load<uint32_t>(memory.at(command.dst) + 4 * i), 0x3f800000 + i);
      ++compared_;
    }
  }
}

TEST_F(FloatVpu, RandomPoolings) {
  Random random(503);
  std::map<std::string, int> kinds;
  for (int i = 0; i < 500 && !HasFatalFailure(); ++i) {
    VpuPoolCommand shape = cosim::random_pool(random, 16);
    make_float(shape, random);
    ++kinds[cosim::kind(shape)];
    check(shape, random);
  }
  EXPECT_EQ(kinds.size(), 5 * 3U);  // formats; averages, maxima, and those with NaNs ignored
}

VpuPoolCommand column(PoolMode mode, Element type, uint32_t count, uint32_t channels) {
  VpuPoolCommand command;
  command.header.queue = contract::Queue::kVpu;
  command.mode = mode;
  command.type = type;
  command.in_h = command.kernel_h = count;
  command.in_w = command.out_h = command.out_w = command.kernel_w = command.stride_y = command.stride_x = 1;
  command.channels = channels;
  return command;
}

TEST_F(FloatVpu, EveryCountOfAverages) {
  Random random(504);
  for (uint32_t count = 1; count <= 300 && !HasFatalFailure(); ++count) {
    check(column(PoolMode::kAvg, random_format(random), count, 7), random);
  }
}

// 2^24 + 1 elements are no FP32 number, but the FP32 number nearest to 1 / (2^24 + 1) is what a sum is multiplied by. A
// sum of ones ends at 2^24.
TEST_F(FloatVpu, AveragesOfMoreElementsThanFp32Counts) {
  constexpr uint32_t kOne = 0x3f800000;
  VpuPoolCommand command = column(PoolMode::kAvg, Element::kF32, 673, 1);
  command.in_w = command.kernel_w = 24'929;
  command.src = scratchpad(0);
  command.params = scratchpad(8);
  command.dst = scratchpad(4);
  for (const Kernels* kernels : supported_kernels()) {
    TestMemory memory(64);
    contract::detail::store(memory.scratchpad().data(), kOne);
    ASSERT_EQ(make_vpu_model(test_machine(), *kernels)->run(encode(command), memory, false).error, ErrorCode::kOk);
    EXPECT_EQ(contract::detail::load<uint32_t>(memory.at(command.dst)), kOne - 1);
    EXPECT_EQ(scalar::quotient(1, uint64_t{673} * 24'929), 0x337fffffU);
    ++compared_;
  }
}

}  // namespace
}  // namespace npu::engine::testing
