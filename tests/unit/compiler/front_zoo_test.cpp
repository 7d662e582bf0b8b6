// SPDX-License-Identifier: Apache-2.0
// Real networks through the front end: equal to the goldens of Arm's reference model in every element.
#include <gtest/gtest.h>

#include <filesystem>

#include "driver/graph/npy.h"
#include "driver/graph/reader.h"
#include "tests/unit/compiler/front_run.h"

namespace npu::compiler::testing {
namespace {

#ifdef NPU_ZOO_DIR

namespace fs = std::filesystem;

fs::path folder(const std::string& name) { return fs::path(NPU_ZOO_DIR) / name; }

void expect_equal(const graph::Value& got, const graph::Value& want, int64_t step) {
  const graph::Difference difference = graph::compare(got, want);
  EXPECT_GT(difference.compared, 0);
  EXPECT_EQ(difference.differing, 0) << "first at " << difference.first << ", step " << step;
}

class StatelessZoo : public ::testing::TestWithParam<const char*> {};

TEST_P(StatelessZoo, EqualsTheGolden) {
  const fs::path dir = folder(GetParam());
  if (!fs::exists(dir)) GTEST_SKIP() << "no " << dir;
  const graph::Graph graph = graph::read_tosa(dir / (std::string(GetParam()) + ".tosa"));
  FrontRun run(graph);
  const Port &in = run.module().inputs.at(0), &out = run.module().outputs.at(0);
  const auto input = graph::to_value(graph::read_npy(dir / "input0.npy"), in.type, &in.shape, true);
  const auto golden = graph::to_value(graph::read_npy(dir / "golden_out0.npy"), out.type, &out.shape, true);
  expect_equal(run.run({input}).at(0), golden, 0);
}

INSTANTIATE_TEST_SUITE_P(Zoo, StatelessZoo,
                         ::testing::Values("ds_cnn_int8", "ds_cnn_int16x8", "vww_mbv1_025_int8", "resnet8_int8",
                                           "ad_autoencoder_int8", "small_cnn_int8", "transformer_relu_int8",
                                           "transformer_gelu_int8", "mobilenet_v2_int8"),
                         [](const auto& info) { return std::string(info.param); });

class StreamingZoo : public ::testing::TestWithParam<const char*> {};

TEST_P(StreamingZoo, EqualsTheGoldenOnEveryFrame) {
  const fs::path dir = folder(GetParam());
  if (!fs::exists(dir)) GTEST_SKIP() << "no " << dir;
  const graph::Graph graph = graph::read_tosa(dir / (std::string(GetParam()) + ".tosa"));
  FrontRun run(graph);
  const Port &in = run.module().inputs.at(0), &out = run.module().outputs.at(0);
  const graph::NpyArray frames = graph::read_npy(dir / "frames.npy"), golden = graph::read_npy(dir / "golden_tosa.npy");
  for (int64_t step = 0; step < frames.shape[0]; ++step) {
    const auto input = graph::to_value(graph::slice_axis0(frames, step), in.type, &in.shape, true);
    const auto want = graph::to_value(graph::slice_axis0(golden, step), out.type, &out.shape, true);
    expect_equal(run.run({input}).at(0), want, step);
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Zoo, StreamingZoo,
                         ::testing::Values("okay_nabu", "hey_jarvis", "lstm_step_int8", "lstm_step_int16x8"),
                         [](const auto& info) { return std::string(info.param); });

class MicroZoo : public ::testing::TestWithParam<const char*> {};

TEST_P(MicroZoo, EqualsTheGoldens) {
  const fs::path base = fs::path(NPU_ZOO_DIR) / GetParam();
  const auto file = [&](const std::string& suffix) { return fs::path(base.string().append(suffix)); };
  if (!fs::exists(file(".tosa"))) GTEST_SKIP() << "no " << base;
  const graph::Graph graph = graph::read_tosa(file(".tosa"));
  FrontRun run(graph);
  const auto values = [&](const std::vector<Port>& ports, const std::string& kind) {
    std::vector<graph::Value> result;
    for (size_t i = 0; i < ports.size(); ++i) {
      const auto array = graph::read_npy(file(std::string(".").append(kind).append(std::to_string(i)).append(".npy")));
      result.push_back(graph::to_value(array, ports[i].type, &ports[i].shape, true));
    }
    return result;
  };
  const auto got = run.run(values(run.module().inputs, "in")), want = values(run.module().outputs, "out");
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) expect_equal(got[i], want[i], 0);
}

INSTANTIATE_TEST_SUITE_P(Zoo, MicroZoo,
                         ::testing::Values("micro/var_read_write_read", "micro/var_read_compute_write_read",
                                           "micro/var_uninitialised", "micro/io_aliases", "micro/named_io",
                                           "micro/var_odd_size", "negative/double_write"),
                         [](const auto& info) { return fs::path(info.param).filename().string(); });

#endif

}  // namespace
}  // namespace npu::compiler::testing
