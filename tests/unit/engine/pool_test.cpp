// SPDX-License-Identifier: Apache-2.0
// Pooling tiles against naive loops, on every kernel set of this machine.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "hw/engine/vpu_model.h"
#include "sim/cosim/random_vpu.h"
#include "tests/unit/engine/scalar_math.h"
#include "tests/unit/engine/support.h"

namespace npu::engine::testing {
namespace {

using contract::Element;
using contract::ErrorCode;
using contract::PoolMode;
using contract::VpuPoolCommand;

// The specification's division by a count: multiply by a reciprocal of 31 bits, round, shift.
int64_t divide(int64_t sum, int64_t count) {
  int k = 0;
  while ((int64_t{1} << k) < count) ++k;
  const int64_t multiplier = static_cast<int64_t>(((Wide{1} << 30) + 1) * (Wide{1} << k) / count);
  return wrap(floor_shift(Wide{sum} * multiplier + (Wide{1} << (29 + k)), 30 + k), 32);
}

struct PoolCase {
  VpuPoolCommand command;
  TestMemory memory{0};
  std::vector<uint8_t> expected;
  int64_t elements = 0;
};

struct ZeroPoints {
  int64_t input, output;
};
ZeroPoints zero_points(const PoolCase& test) {
  const auto header = contract::ParameterHeader::load(test.memory.at(test.command.params));
  return {header.input_zp, header.output_zp};
}

PoolCase make_pool_case(const VpuPoolCommand& shape, Random& random, bool plain) {
  PoolCase test;
  cosim::MadeTile<VpuPoolCommand> made = cosim::make_pool_tile(shape, random, plain);
  test.command = made.command;
  test.memory = TestMemory(std::move(made.bytes));
  const VpuPoolCommand& command = test.command;
  const int64_t bytes = element_bytes(command.type), channels = command.channels;
  const auto [input_zp, output_zp] = zero_points(test);

  test.expected = test.memory.scratchpad();
  const uint8_t* src = test.memory.at(command.src);
  const int64_t low = command.type == Element::kI8 ? -128 : -32768;
  for (int64_t oy = 0; oy < command.out_h; ++oy) {
    for (int64_t ox = 0; ox < command.out_w; ++ox) {
      for (int64_t c = 0; c < channels; ++c) {
        int64_t count = 0, sum = 0, most = low;
        for (int64_t ky = 0; ky < command.kernel_h; ++ky) {
          for (int64_t kx = 0; kx < command.kernel_w; ++kx) {
            const int64_t y = oy * command.stride_y - command.pad_top + ky;
            const int64_t x = ox * command.stride_x - command.pad_left + kx;
            if (y < 0 || y >= command.in_h || x < 0 || x >= command.in_w) continue;
            const int64_t value =
                load(src + y * command.src_row_stride + x * command.src_pixel_stride + c * bytes, command.type);
            ++count;
            sum += value - input_zp;
            most = std::max(most, value);
          }
        }
        int64_t value = most;
        if (command.mode == PoolMode::kAvg) {
          value = clip_to((count == 0 ? 0 : divide(wrap(sum, 32), count)) + output_zp, command.type, false);
        }
        store(test.expected.data() + command.dst.offset + oy * command.dst_row_stride + ox * command.dst_pixel_stride +
                  c * bytes,
              command.type, value);
      }
    }
  }
  test.elements = int64_t{command.out_h} * command.out_w * channels;
  return test;
}

class Pool : public EveryKernelSet {
 protected:
  void check(const PoolCase& made, const std::string& what) {
    PoolCase test = made;
    ASSERT_EQ(engine_->run(encode(test.command), test.memory, /*timed=*/true).error, ErrorCode::kOk) << what;
    ASSERT_EQ(test.memory.scratchpad(), test.expected) << what;
    compared_ += test.elements;
  }
  void TearDown() override {
    std::printf("%lld elements compared on %s\n", static_cast<long long>(compared_), GetParam().c_str());
  }

  std::unique_ptr<Engine> engine_ = make_vpu_model(test_machine(), kernels());
  int64_t compared_ = 0;
};

TEST_P(Pool, RandomTilesEqualNaiveLoops) {
  Random random(81);
  for (int i = 0; i < 2000 && !HasFatalFailure(); ++i) {
    const VpuPoolCommand shape = cosim::random_pool(random, test_machine().vpu_lanes);
    check(make_pool_case(shape, random, /*plain=*/false), cosim::describe(shape) + ", " + random.name());
  }
}

TEST_P(Pool, EveryCountOfAverages) {
  Random random(82);
  for (uint32_t count = 1; count <= 300 && !HasFatalFailure(); ++count) {
    VpuPoolCommand command;
    command.mode = PoolMode::kAvg;
    command.type = count % 3 == 0 ? Element::kI16 : Element::kI8;
    command.in_h = command.kernel_h = count;
    command.in_w = command.out_h = command.out_w = command.kernel_w = command.stride_y = command.stride_x = 1;
    command.channels = 40;
    check(make_pool_case(command, random, /*plain=*/true), "count " + std::to_string(count));
  }
}

TEST_P(Pool, AveragesRoundHalvesAwayFromZero) {
  // Means of two: -1.5, -0.5, 0.5, 1.5 and the ends. The reciprocal is a little too large, which decides ties.
  const int8_t pairs[][3] = {{-1, -2, -2},       {0, -1, -1},     {0, 1, 1},      {1, 2, 2},
                             {-128, -128, -128}, {127, 127, 127}, {126, 127, 127}};
  VpuPoolCommand command;
  command.mode = PoolMode::kAvg;
  command.in_w = command.kernel_w = 2;
  command.in_h = command.out_h = command.out_w = command.kernel_h = command.stride_y = command.stride_x = 1;
  command.channels = 7;
  Random random(83);
  PoolCase test = make_pool_case(command, random, /*plain=*/true);
  for (size_t i = 0; i < 7; ++i) {
    test.memory.at(test.command.src)[i] = static_cast<uint8_t>(pairs[i][0]);
    test.memory.at(test.command.src)[7 + i] = static_cast<uint8_t>(pairs[i][1]);
  }
  ASSERT_EQ(engine_->run(encode(test.command), test.memory, false).error, ErrorCode::kOk);
  for (size_t i = 0; i < 7; ++i) {
    EXPECT_EQ(static_cast<int8_t>(test.memory.at(test.command.dst)[i]), pairs[i][2]) << i;
  }
  compared_ += 7;
}

INSTANTIATE_TEST_SUITE_P(Kernels, Pool, ::testing::ValuesIn(all_kernel_sets()), kernel_set_name);

}  // namespace
}  // namespace npu::engine::testing
