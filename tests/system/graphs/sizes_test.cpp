// SPDX-License-Identifier: Apache-2.0
// Operators of unusual sizes on the device against the reference: functional and timed, on both machines.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iostream>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "driver/compiler/compile.h"
#include "driver/graph/builder.h"
#include "driver/runtime/runtime.h"
#include "hw/presets/preset.h"
#include "sim/generator/run_time_operands.h"
#include "sim/platform/platform.h"
#include "sim/reference/reference.h"
#include "tests/unit/compiler/front_check.h"

namespace npu::test {
namespace {

using graph::DType;
using graph::GraphBuilder;
using graph::Op;
using graph::TensorId;

// Machine, and whether it counts time. A process opens one device.
class Sizes : public testing::TestWithParam<std::tuple<const char*, bool>> {
 protected:
  Sizes() : device_(open()) {}

  // Whether the networks that follow get the best schedule that a search finds, or the first one: both have to compute
  // the same. Where no time is counted, always the first one.
  void search_if(bool wanted) { searches_ = wanted && std::get<1>(GetParam()); }

  // A network of one output: what `make` adds. Values of inputs are at most `range`. Operands that have to be constants
  // without EXT-DYNAMIC are, and then come at run time.
  void expect_equal(const std::function<TensorId(GraphBuilder&)>& make, int64_t range = 1000) {
    GraphBuilder b;
    b.output(make(b), "y");
    graph::Graph graph = b.build();
    expect_equal(graph, range);
    cosim::Random all(1);
    if (generator::make_run_time_operands(graph, all, 100) == 0) return;
    SCOPED_TRACE("operands at run time");
    expect_equal(graph, range);
  }

  void expect_equal(const graph::Graph& graph, int64_t range) {
    std::mt19937 random(1);
    std::vector<graph::Value> inputs;
    for (const TensorId id : graph.main().inputs) {
      const graph::Tensor& tensor = graph.main().tensors[id];
      inputs.push_back(compiler::testing::random_value(tensor.type, tensor.shape, random, range));
    }
    reference::Context state;
    const std::vector<graph::Value> want = reference::run(graph, inputs, state);
    runtime::Context context = device_.create_context();
    compiler::Options compiling{.schedule = {}, .firmware = false};
    if (!searches_) compiling.schedule.effort = compiler::Effort::kLeast;
    runtime::LoadedProgram program = context.load(compiler::compile(graph, device_.capabilities(), compiling));
    runtime::Job job = program.create_job();
    for (size_t i = 0; i < inputs.size(); ++i) job.set_input(i, inputs[i]);
    static_cast<void>(job.run());
    const std::vector<graph::Value> got = job.outputs();
    const graph::Difference difference = graph::compare(got.at(0), want.at(0));
    EXPECT_GT(difference.compared, 0);
    EXPECT_EQ(difference.differing, 0) << "first at " << difference.first;
  }

  // Of one job with inputs of zeros.
  uint64_t cycles(const std::function<TensorId(GraphBuilder&)>& make) {
    GraphBuilder b;
    b.output(make(b), "y");
    const graph::Graph graph = b.build();
    runtime::Context context = device_.create_context();
    runtime::LoadedProgram program =
        context.load(compiler::compile(graph, device_.capabilities(), {.schedule = {}, .firmware = false}));
    runtime::Job job = program.create_job();
    size_t index = 0;
    for (const TensorId id : graph.main().inputs) {
      const graph::Tensor& tensor = graph.main().tensors[id];
      const auto bytes = static_cast<size_t>(*graph::element_count(tensor.shape) * graph::machine_width(tensor.type));
      job.set_input(index++, {tensor.type, tensor.shape, std::vector<uint8_t>(bytes)});
    }
    return job.run().cycles;
  }

 private:
  static runtime::Device open() {
    platform::PlatformOptions options;
    options.preset = presets::load_preset(std::get<0>(GetParam()));
    options.mode = std::get<1>(GetParam()) ? model::Mode::kTimed : model::Mode::kFunctional;
    options.control_cpu = false;
    runtime::DeviceOptions driver;
    driver.bypass_firmware = true;
    return runtime::Device::open(platform::open_tlm_device(options), driver);
  }

  runtime::Device device_;
  bool searches_ = std::get<1>(GetParam());
};

// Between the cycles of two networks that differ by one element.
constexpr double kMostRatio = 1.25;

// Half of what the fields hold was refused once, as if they had a sign.
TEST_P(Sizes, KernelsAndStridesAsLargeAsTheFieldsHold) {
  // The window and its result fit into nano's 65,536 bytes.
  const int32_t largest = std::get<0>(GetParam()) == std::string("edge") ? 65535 : 65000;
  for (const int32_t size : {32767, 32768, 60000, largest}) {
    SCOPED_TRACE(size);
    expect_equal([=](GraphBuilder& b) {
      return b.max_pool2d(b.input("x", DType::kInt8, {1, 1, size + 1, 2}), {1, size}, {1, 1}, {0, 0, 0, 0});
    });
    expect_equal([=](GraphBuilder& b) {
      return b.avg_pool2d(b.input("x", DType::kInt8, {1, size + 1, 1, 1}), {size, 1}, {1, 1}, {0, 0, 0, 0}, 3, -2);
    });
    expect_equal([=](GraphBuilder& b) {
      return b.max_pool2d(b.input("x", DType::kInt8, {1, 1, 2 * size + 1, 1}), {1, 1}, {1, size}, {0, 0, 0, 0});
    });
  }
}

// Their parameters are 16 bytes a channel, behind 32 bytes: on nano 510 channels fill the table memory, on edge 4094.
TEST_P(Sizes, ChannelsWithMoreParametersThanTheTableMemoryHolds) {
  for (const int64_t channels : {510, 511, 1021, 4094, 4095, 9000}) {
    SCOPED_TRACE(channels);
    expect_equal([=](GraphBuilder& b) {
      graph::Rescaling how;
      how.per_channel = true;
      how.multiplier.clear();
      how.shift.clear();
      for (int64_t c = 0; c < channels; ++c) {
        how.multiplier.push_back(static_cast<double>((1 << 30) + c * 1000));
        how.shift.push_back(static_cast<double>(34 + c % 4));
      }
      return b.rescale(b.input("x", DType::kInt32, {3, channels}), DType::kInt8, how);
    });
  }
}

TEST_P(Sizes, DilationsAsLargeAsTheFieldsHold) {
  for (const int32_t size : {32767, 32768, 60000, 65535}) {
    SCOPED_TRACE(size);
    expect_equal([=](GraphBuilder& b) {
      const TensorId weights = b.constant(DType::kInt8, {2, 1, 3, 1}, std::vector<double>{1, -2, 3, -4, 5, -6});
      return b.conv2d(b.input("x", DType::kInt8, {1, 1, 2 * size + 3, 1}), weights,
                      b.constant(DType::kInt32, {2}, std::vector<double>{7, 8}), {.dilation = {1, size}});
    });
  }
}

// Of nano's scratchpad and of edge's, 64 KiB and 1 MiB, a row of which some of these operators need.
constexpr int64_t kLong = 70000, kVeryLong = 1100000;

TEST_P(Sizes, ReductionsLongerThanTheScratchpad) {
  for (const Op op : {Op::kReduceSum, Op::kReduceMax, Op::kReduceMin}) {
    for (const int64_t axis : {kLong, kVeryLong}) {
      expect_equal([=](GraphBuilder& b) { return b.reduce(op, b.input("x", DType::kInt32, {1, axis}), 1); });
    }
    // Outer and inner dimensions; chunks of unequal sizes.
    expect_equal([=](GraphBuilder& b) { return b.reduce(op, b.input("x", DType::kInt32, {9, 16411}), 1); });
    expect_equal([=](GraphBuilder& b) { return b.reduce(op, b.input("x", DType::kInt32, {2, 40009, 3}), 1); });
    expect_equal([=](GraphBuilder& b) { return b.reduce(op, b.input("x", DType::kInt32, {50021, 7}), 0); });
  }
  for (const Op op : {Op::kReduceAll, Op::kReduceAny}) {
    expect_equal([=](GraphBuilder& b) { return b.reduce(op, b.input("x", DType::kBool, {2, kVeryLong}), 1); });
  }
}

TEST_P(Sizes, ArgmaxLongerThanTheScratchpad) {
  for (const DType type : {DType::kInt8, DType::kInt16}) {
    for (const int64_t axis : {kLong, kVeryLong}) {
      // Few values: the first maximum of many wins.
      expect_equal([=](GraphBuilder& b) { return b.argmax(b.input("x", type, {1, axis}), 1); }, 5);
    }
    expect_equal([=](GraphBuilder& b) { return b.argmax(b.input("x", type, {3, 66003, 2}), 1); }, 100);
  }
  // The maximum lies in the last chunk, and in the first.
  for (const bool last : {false, true}) {
    expect_equal(
        [=](GraphBuilder& b) {
          std::vector<double> ramp;
          for (int64_t i = 0; i < kLong; ++i) ramp.push_back(static_cast<double>((last ? i : kLong - i) / 3));
          return b.argmax(
              b.op(Op::kCast, {b.add(b.constant(DType::kInt32, {1, kLong}, ramp), b.input("x", DType::kInt32, {1, 1}))},
                   {}, DType::kInt16),
              1);
        },
        1);
  }
}

TEST_P(Sizes, RescaleOfMoreChannelsThanTheScratchpadHolds) {
  for (const int64_t channels : {4099, 9000, 70001}) {
    SCOPED_TRACE(channels);
    expect_equal([=](GraphBuilder& b) {
      graph::Rescaling how{.multiplier = {}, .shift = {}, .output_zp = -3, .per_channel = true};
      for (int64_t c = 0; c < channels; ++c) {
        how.multiplier.push_back(static_cast<double>((1 << 30) + c * 7919));
        how.shift.push_back(static_cast<double>(32 + c % 5));
      }
      return b.clamp(b.rescale(b.input("x", DType::kInt32, {3, channels}), DType::kInt8, how), -100, 90);
    });
  }
}

std::vector<double> weights_of(int64_t count) {
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(static_cast<double>(i * 37 % 15 - 7));
  return values;
}

TEST_P(Sizes, SumsOfMoreThanTheScratchpadHolds) {
  for (const bool scaled : {false, true}) {
    // With as many parts as these have a search takes long, and how they are scaled changes little of it.
    search_if(scaled);
    const auto stage = [=](GraphBuilder& b, TensorId sums, int64_t channels) {
      if (!scaled) return sums;
      graph::Rescaling how{.multiplier = {}, .shift = {}, .output_zp = 5, .per_channel = true};
      for (int64_t c = 0; c < channels; ++c) {
        how.multiplier.push_back(static_cast<double>((1 << 30) + c * 12347));
        how.shift.push_back(static_cast<double>(40 + c % 3));
      }
      return b.clamp(b.rescale(sums, DType::kInt8, how), -90, 100);
    };
    const auto bias = [](GraphBuilder& b, int64_t channels) {
      return b.constant(DType::kInt32, {channels}, weights_of(channels));
    };
    // A fully connected layer, and a convolution of many channels.
    for (const int64_t channels : {kLong, kVeryLong}) {
      expect_equal([=](GraphBuilder& b) {
        const TensorId x = b.input("x", DType::kInt8, {3, 1, 1, channels});
        const TensorId weights = b.constant(DType::kInt8, {3, 1, 1, channels}, weights_of(3 * channels));
        return stage(b, b.conv2d(x, weights, bias(b, 3), {.input_zp = 3, .weight_zp = 0}), 3);
      });
    }
    expect_equal([=](GraphBuilder& b) {
      const TensorId x = b.input("x", DType::kInt8, {2, 4, 5, 8000});
      const TensorId weights = b.constant(DType::kInt8, {9, 3, 3, 8000}, weights_of(9 * 9 * 8000));
      return stage(b, b.conv2d(x, weights, bias(b, 9), {.pad = {1, 1, 0, 2}, .input_zp = -4, .weight_zp = 0}), 9);
    });
    // Windows that alone are too large: rows, then columns; strides and padding.
    expect_equal([=](GraphBuilder& b) {
      const TensorId x = b.input("x", DType::kInt8, {1, 402, 402, 1});
      const TensorId weights = b.constant(DType::kInt8, {2, 400, 300, 1}, weights_of(2 * 120000));
      return stage(b, b.conv2d(x, weights, bias(b, 2), {.pad = {3, 1, 50, 49}, .stride = {3, 67}, .input_zp = 7}), 2);
    });
    expect_equal([=](GraphBuilder& b) {
      const TensorId x = b.input("x", DType::kInt8, {1, 301, 301, 3});
      const TensorId weights = b.constant(DType::kInt8, {300, 300, 3, 2}, weights_of(90000 * 6));
      return stage(b, b.depthwise_conv2d(x, weights, bias(b, 6), {.pad = {1, 0, 0, 1}, .input_zp = 7}), 6);
    });
    for (const int64_t sum : {int64_t{33000}, kVeryLong}) {
      expect_equal([=](GraphBuilder& b) {
        const TensorId left = b.input("a", DType::kInt8, {2, 3, sum});
        return stage(b, b.matmul(left, b.input("b", DType::kInt8, {2, sum, 2}), 3, -2), 2);
      });
    }
  }
}

TEST_P(Sizes, SumsOf48BitsOfMoreThanTheScratchpadHolds) {
  // Sums beyond 32 bits of both signs: inputs of all 16 bits, and weights of one sign for each channel.
  const auto weights = [](GraphBuilder& b, graph::Shape shape, int64_t channels, bool last) {
    std::vector<double> values;
    const int64_t count = *graph::element_count(shape);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t channel = last ? i % channels : i / (count / channels);
      values.push_back(static_cast<double>((i * 37 % 63 + 64) * (channel % 2 == 0 ? 1 : -1)));
    }
    return b.constant(DType::kInt8, std::move(shape), std::move(values));
  };
  const auto bias = [](GraphBuilder& b, int64_t channels) {
    std::vector<double> values;
    for (int64_t c = 0; c < channels; ++c) values.push_back(static_cast<double>((c - 1) * 30'000'000'000));
    return b.constant(DType::kInt48, {channels}, std::move(values));
  };
  for (const bool scaled : {false, true}) {
    // With as many parts as these have a search takes long, and how they are scaled changes little of it.
    search_if(scaled);
    const auto stage = [=](GraphBuilder& b, TensorId sums, int64_t channels) {
      if (!scaled) return sums;
      graph::Rescaling how{.multiplier = {}, .shift = {}, .scale32 = false, .per_channel = true};
      for (int64_t c = 0; c < channels; ++c) {
        how.multiplier.push_back(static_cast<double>((1 << 14) + c * 1237));
        how.shift.push_back(static_cast<double>(36 + c % 3));
      }
      return b.rescale(sums, DType::kInt16, how);
    };
    for (const int64_t channels : {int64_t{30000}, kLong, int64_t{400000}}) {
      expect_equal(
          [=](GraphBuilder& b) {
            const TensorId x = b.input("x", DType::kInt16, {3, 1, 1, channels});
            return stage(b, b.conv2d(x, weights(b, {3, 1, 1, channels}, 3, false), bias(b, 3)), 3);
          },
          32767);
    }
    expect_equal(
        [=](GraphBuilder& b) {
          const TensorId x = b.input("x", DType::kInt16, {1, 301, 701, 3});
          return stage(
              b, b.depthwise_conv2d(x, weights(b, {300, 700, 3, 2}, 6, true), bias(b, 6), {.pad = {1, 0, 0, 1}}), 6);
        },
        32767);
  }
}

TEST_P(Sizes, PoolingOfWindowsThatTheScratchpadDoesNotHold) {
  for (const DType type : {DType::kInt8, DType::kInt16}) {
    const int32_t zero_point = type == DType::kInt8 ? 5 : 0;
    // Of the whole image; of a part, with strides; with padding, so that windows hold different numbers of inputs; of
    // one row and of one column that are too long.
    const struct {
      graph::Shape shape;
      std::vector<int32_t> kernel, stride, pad;
    } pools[] = {{{1, 1100, 1100, 2}, {1100, 1100}, {1, 1}, {0, 0, 0, 0}},
                 {{2, 310, 305, 3}, {300, 300}, {2, 3}, {0, 0, 0, 1}},
                 {{1, 303, 400, 1}, {301, 390}, {150, 115}, {140, 8, 100, 120}},
                 {{1, 2, 65535, 2}, {1, 65535}, {1, 1}, {0, 0, 0, 0}},
                 {{1, 65535, 1, 3}, {65530, 1}, {1, 1}, {3, 2, 0, 0}}};
    for (const auto& pool : pools) {
      SCOPED_TRACE(graph::to_string(pool.shape));
      expect_equal([&](GraphBuilder& b) {
        return b.max_pool2d(b.input("x", type, pool.shape), pool.kernel, pool.stride, pool.pad);
      });
      expect_equal([&](GraphBuilder& b) {
        return b.avg_pool2d(b.input("x", type, pool.shape), pool.kernel, pool.stride, pool.pad, zero_point,
                            -zero_point);
      });
    }
  }
}

// Sizes from 3 to 100,000 (one element is no operand: a command holds it), each with the next smaller one: powers of
// two and what lies beside them, primes, and others at random.
std::vector<int64_t> sample_sizes() {
  std::set<int64_t> sizes;
  for (int64_t power = 4; power <= 65536; power *= 2) sizes.insert({power, power + 1, power + 2});
  for (const int64_t prime : {7, 31, 127, 257, 509, 1021, 2039, 4099, 8191, 16381, 32749, 49999, 65521, 65537, 99991}) {
    sizes.insert({prime, prime + 1});
  }
  std::mt19937 random(1);
  std::uniform_real_distribution<double> exponent(std::log(4.0), std::log(100000.0));
  while (sizes.size() < 200) sizes.insert(static_cast<int64_t>(std::exp(exponent(random))));
  return {sizes.begin(), sizes.end()};
}

// The cycles of a network hardly change with one element more.
TEST_P(Sizes, CyclesHaveNoCliffs) {
  if (!std::get<1>(GetParam())) GTEST_SKIP() << "functional mode has no time";
  using Make = std::function<TensorId(GraphBuilder&, int64_t)>;
  const std::pair<const char*, Make> operators[] = {
      {"SUB of INT32",
       [](GraphBuilder& b, int64_t size) {
         return b.sub(b.input("x", DType::kInt32, {1, size}), b.input("y", DType::kInt32, {1, size}));
       }},
      {"SUB of INT32 and a constant",
       [](GraphBuilder& b, int64_t size) {
         return b.sub(b.input("x", DType::kInt32, {1, size}), b.constant(DType::kInt32, {1, size}, weights_of(size)));
       }},
      {"CLAMP of INT8",
       [](GraphBuilder& b, int64_t size) {
         return b.clamp(b.input("x", DType::kInt8, {1, size}), -90, 80);
       }},
      {"RESCALE of INT32 to INT8", [](GraphBuilder& b, int64_t size) {
         return b.rescale(b.input("x", DType::kInt32, {size}), DType::kInt8, {.multiplier = {1 << 30}, .shift = {35}});
       }}};
  for (const auto& [name, make] : operators) {
    double worst = 0;
    int64_t at = 0;
    const std::vector<int64_t> sizes = sample_sizes();
    for (const int64_t size : sizes) {
      const auto less = static_cast<double>(cycles([&](GraphBuilder& b) { return make(b, size - 1); }));
      const auto more = static_cast<double>(cycles([&](GraphBuilder& b) { return make(b, size); }));
      const double ratio = std::max(less, more) / std::min(less, more);
      if (ratio > worst) worst = ratio, at = size;
    }
    std::cout << name << ": at most a factor of " << worst << " between " << at - 1 << " and " << at << " elements, of "
              << sizes.size() << " pairs\n";
    EXPECT_LT(worst, kMostRatio) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Machines, Sizes, testing::Combine(testing::Values("nano", "edge"), testing::Bool()),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param)) +
                                  (std::get<1>(info.param) ? "Timed" : "Functional");
                         });

}  // namespace
}  // namespace npu::test
