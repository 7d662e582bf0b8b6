// SPDX-License-Identifier: Apache-2.0
// Random networks on machines that are too small: a refusal names all that has to change, exactly.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "driver/graph/builder.h"
#include "hw/presets/preset.h"
#include "tests/unit/advice/machine.h"

namespace npu {
namespace {

using graph::DType;
using graph::GraphBuilder;
using graph::TensorId;

struct Trial {
  graph::Graph graph;
  contract::Capabilities machine;
  compiler::Options options;
};

// The same for the same seed.
class TrialMaker {
 public:
  explicit TrialMaker(uint32_t seed) : random_(seed) {}

  Trial make() {
    Trial trial;
    trial.machine = presets::load_preset(NPU_NANO).caps;
    trial.machine.spm_bytes = 16384u << pick(0, 2);
    trial.machine.dram_mib = static_cast<uint32_t>(pick(1, 3));
    trial.machine.var_entries = 4u << pick(0, 4);
    trial.machine.psram_bytes = 2048u << pick(0, 3);
    trial.options.firmware = pick(0, 1) == 1;
    trial.options.schedule.two_places = pick(0, 2) == 0;
    trial.options.schedule.state_in_dram = pick(0, 4) == 0;
    trial.graph = network();
    // Advice has to be exact for the schedule that is taken, whichever that is; the first one is there soonest.
    if (pick(0, 3) != 0) trial.options.schedule.effort = compiler::Effort::kLeast;
    return trial;
  }

 private:
  int64_t pick(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random_); }
  // Small ones as often as large ones.
  int64_t size(int64_t low, int64_t high) {
    std::uniform_real_distribution<double> exponent(std::log(static_cast<double>(low)),
                                                    std::log(static_cast<double>(high) + 1));
    return std::min(high, static_cast<int64_t>(std::exp(exponent(random_))));
  }

  graph::Graph network() {
    GraphBuilder b;
    const int64_t kind = pick(0, 5);
    if (kind != 0) add_body(b, kind);
    if (kind == 0 || pick(0, 1) == 1) add_variables(b);
    return b.build();
  }

  void add_body(GraphBuilder& b, int64_t kind) {
    const std::vector<double> seven = {7};
    if (kind == 1) {  // many weights
      const int64_t from = size(64, 9000), to = size(8, 200);
      const TensorId x = b.input("x", DType::kInt8, {1, 1, 1, from});
      const TensorId sums =
          b.conv2d(x, b.constant(DType::kInt8, {to, 1, 1, from}, seven), b.constant(DType::kInt32, {to}, seven));
      b.output(b.rescale(sums, DType::kInt8, {.multiplier = {1 << 30}, .shift = {40}}), "y");
    } else if (kind == 2) {  // smallest tiles that are large
      const int64_t multiplier = size(16, 4000);
      const TensorId x = b.input("x", DType::kInt8, {1, 6, 6, 1});
      const TensorId sums = b.depthwise_conv2d(x, b.constant(DType::kInt8, {5, 5, 1, multiplier}, seven),
                                               b.constant(DType::kInt32, {multiplier}, seven));
      b.output(b.rescale(sums, DType::kInt8, {.multiplier = {1 << 30}, .shift = {40}}), "y");
    } else {
      TensorId x = b.input("x", DType::kInt8, {size(1, 600), size(1, 6000)});
      for (int64_t i = pick(1, 3); i > 0; --i) {
        x = b.clamp(x, -100 + static_cast<double>(i), 100);
        if (pick(0, 1) == 1) b.output(x, "y" + std::to_string(i));
      }
      b.output(x, "y");
    }
  }

  void add_variables(GraphBuilder& b) {
    const int64_t count = pick(0, 3) == 0 ? size(5, 60) : size(1, 6), most = count > 6 ? 4000 : 800000;
    for (int64_t i = 0; i < count; ++i) {
      const std::string name = std::to_string(i);
      const int64_t bytes = size(1, most);
      const TensorId variable = b.variable("v" + name, DType::kInt8, {1, bytes});
      b.declare(variable);
      const bool reads = pick(0, 2) > 0;
      if (reads) b.output(b.read(variable), "r" + name);
      if (!reads || pick(0, 1) == 1) b.write(variable, b.input("w" + name, DType::kInt8, {1, bytes}));
    }
  }

  std::mt19937 random_;
};

// Empty: the network fits, and can be loaded.
std::string refuse(const Trial& trial, const contract::Capabilities& caps) {
  if (caps.var_entries * 16 >= caps.psram_bytes) return "no machine";
  try {
    Machine machine(caps, trial.options.firmware);
    machine.load(trial.graph, trial.options, {.double_buffer = trial.options.schedule.two_places});
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(contract::exit_status(error.code()), contract::exit_status(contract::ErrorCode::kDramFull))
        << error.what();
    return error.what();
  }
}

TEST(RandomAdvice, OneEditIsEnoughAndNoMoreThanThat) {
  const char* const text = std::getenv("NPU_REFUSALS");
  const int wanted = text == nullptr ? 300 : std::atoi(text);
  ASSERT_GT(wanted, 0) << "NPU_REFUSALS";
  std::map<std::string, int> edits;
  uint32_t seed = 0;
  int refusals = 0;
  for (; refusals < wanted && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Trial trial = TrialMaker(seed).make();
    const std::string message = refuse(trial, trial.machine);
    if (message.empty()) continue;
    ++refusals;
    SCOPED_TRACE(message);
    const Keys keys = advice_in(message);
    ASSERT_FALSE(keys.empty());
    contract::Capabilities enough = trial.machine;
    std::string names;
    for (const auto& [key, value] : keys) {
      const auto member = contract::find_capability(key).member;
      EXPECT_GT(value, enough.*member);
      enough.*member = static_cast<uint32_t>(value);
      names += (names.empty() ? "" : " and ") + key;
    }
    ++edits[names];
    EXPECT_EQ(refuse(trial, enough), "");
    for (const auto& [key, value] : keys) {
      const contract::CapabilityInfo& info = contract::find_capability(key);
      contract::Capabilities less = enough;
      less.*info.member = static_cast<uint32_t>(info.power_of_two ? value / 2 : value - 1);
      EXPECT_NE(refuse(trial, less), "") << key << ": " << less.*info.member << " is enough";
    }
  }
  std::cout << refusals << " refusals of seeds 0 to " << seed - 1 << ":";
  for (const auto& [names, count] : edits) std::cout << ' ' << count << " of " << names << ';';
  std::cout << '\n';
}

}  // namespace
}  // namespace npu
