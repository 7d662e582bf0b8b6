// SPDX-License-Identifier: Apache-2.0
// Real networks compiled for edge and nano and run command by command: equal to the goldens in every element, tokens
// exact.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string_view>

#include "driver/compiler/lower.h"
#include "driver/graph/npy.h"
#include "driver/graph/reader.h"
#include "tests/unit/compiler/back_checks.h"
#include "tests/unit/compiler/back_modules.h"
#include "tests/unit/compiler/command_interpreter.h"
#include "tests/unit/compiler/segment_checks.h"
#include "tests/unit/seeds.h"

namespace npu::compiler::testing {
namespace {

#ifdef NPU_ZOO_DIR

namespace fs = std::filesystem;

struct Case {
  const char* network;
  bool nano;
};

std::string case_name(const ::testing::TestParamInfo<Case>& info) {
  return std::string(info.param.network) + (info.param.nano ? "_nano" : "_edge");
}

class BackZoo : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    dir_ = fs::path(NPU_ZOO_DIR) / GetParam().network;
    if (!fs::exists(dir_)) GTEST_SKIP() << "no " << dir_;
    if (test::kSanitized && GetParam().network == std::string_view("mobilenet_v2_int8")) {
      GTEST_SKIP() << "too long for sanitizers";
    }
    capabilities_ = GetParam().nano ? nano_capabilities() : edge_capabilities();
    const graph::Graph graph = graph::read_tosa(dir_ / (std::string(GetParam().network) + ".tosa"));
    options_.segment_cycles = kSegmentCycles;
    program_ = schedule(lower(graph, capabilities_), capabilities_, options_);
    EXPECT_LE(program_.spm_peak_bytes, capabilities_.spm_bytes);
  }

  // One run with the variables of the run before, stopped at every yield that `stops` says yes to; compares the first
  // output.
  void run(
      const graph::NpyArray& input, const graph::NpyArray& golden,
      const std::function<bool(size_t)>& stops = [](size_t) { return false; }) {
    const Port &in = program_.inputs.at(0), &out = program_.outputs.at(0);
    CommandInterpreter device(program_, capabilities_);
    for (size_t i = 0; i < variables_.size(); ++i) device.variable(i) = variables_[i];
    device.set_input(0, graph::to_value(input, in.type, &in.shape, true).bytes);
    device.run([&](size_t segment) {
      if (stops(segment)) device.preempt(segment, static_cast<uint32_t>(segment));
    });
    ASSERT_THAT(device.complaints, ::testing::ElementsAre());
    EXPECT_EQ(device.output(0), graph::to_value(golden, out.type, &out.shape, true).bytes);
    variables_.clear();
    for (size_t i = 0; i < program_.variables.size(); ++i) variables_.push_back(device.variable(i));
  }

  fs::path dir_;
  static constexpr uint32_t kSegmentCycles = 2048;
  contract::Capabilities capabilities_;
  ScheduleOptions options_;
  Program program_;
  std::vector<std::vector<uint8_t>> variables_;
};

TEST_P(BackZoo, EqualsTheGolden) {
  if (fs::exists(dir_ / "frames.npy")) {
    const graph::NpyArray frames = graph::read_npy(dir_ / "frames.npy"),
                          golden = graph::read_npy(dir_ / "golden_tosa.npy");
    for (int64_t step = 0; step < frames.shape[0] && !HasFailure(); ++step) {
      SCOPED_TRACE(step);
      run(graph::slice_axis0(frames, step), graph::slice_axis0(golden, step));
    }
  } else {
    run(graph::read_npy(dir_ / "input0.npy"), graph::read_npy(dir_ / "golden_out0.npy"));
  }
}

TEST_P(BackZoo, StopsWhereItMayAndLosesNothing) {
  EXPECT_EQ(check_segments(program_, capabilities_), "");
  EXPECT_EQ(check_segment_times(program_, capabilities_, kSegmentCycles), "");
  // Behind the last yield it may be short or, since the job is left before its commands are done, long.
  if (program_.segments.empty()) {
    EXPECT_LE(program_.tail_cycles, kSegmentCycles);
  }
  const size_t yields = program_.segments.size();
  if (fs::exists(dir_ / "frames.npy")) {
    // Frame by frame at another yield, then at all.
    const graph::NpyArray frames = graph::read_npy(dir_ / "frames.npy"),
                          golden = graph::read_npy(dir_ / "golden_tosa.npy");
    const auto steps = std::min<int64_t>(frames.shape[0], 2 * static_cast<int64_t>(yields) + 2);
    for (int64_t step = 0; step < steps && !HasFailure(); ++step) {
      SCOPED_TRACE(step);
      const auto only = static_cast<size_t>(step);
      run(graph::slice_axis0(frames, step), graph::slice_axis0(golden, step),
          [&](size_t segment) { return only >= yields || segment == only; });
    }
  } else {
    const graph::NpyArray input = graph::read_npy(dir_ / "input0.npy"),
                          golden = graph::read_npy(dir_ / "golden_out0.npy");
    run(input, golden, [](size_t) { return true; });
  }
}

TEST_P(BackZoo, TokensAreSufficientAndEachIsNeeded) {
  const OrderCheck order(program_, capabilities_);
  EXPECT_THAT(order.hazards(), ::testing::ElementsAre());
  EXPECT_THAT(order.needless_tokens(program_.command_count < 400 ? 100000 : 100), ::testing::ElementsAre());
}

INSTANTIATE_TEST_SUITE_P(Zoo, BackZoo,
                         ::testing::Values(Case{"okay_nabu", false}, Case{"okay_nabu", true}, Case{"hey_jarvis", false},
                                           Case{"hey_jarvis", true}, Case{"lstm_step_int8", false},
                                           Case{"lstm_step_int16x8", true}, Case{"ds_cnn_int8", false},
                                           Case{"ds_cnn_int8", true}, Case{"ds_cnn_int16x8", true},
                                           Case{"vww_mbv1_025_int8", false}, Case{"vww_mbv1_025_int8", true},
                                           Case{"resnet8_int8", false}, Case{"resnet8_int8", true},
                                           Case{"ad_autoencoder_int8", false}, Case{"ad_autoencoder_int8", true},
                                           Case{"transformer_relu_int8", false}, Case{"transformer_gelu_int8", true},
                                           Case{"mobilenet_v2_int8", false}, Case{"mobilenet_v2_int8", true}),
                         case_name);

#endif

}  // namespace
}  // namespace npu::compiler::testing
