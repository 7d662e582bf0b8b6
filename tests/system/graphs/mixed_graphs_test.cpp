// SPDX-License-Identifier: Apache-2.0
// Random graphs of integers and floating point on the device. Each operator against the reference, on the device's own
// operands; and the device against itself in every bit: with operators fused and not, in other tiles, timed and
// functional, and with its engines in lockstep with their RTL.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <exception>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "driver/compiler/compile.h"
#include "driver/compiler/lower.h"
#include "driver/graph/builder.h"
#include "driver/graph/validate.h"
#include "driver/runtime/runtime.h"
#include "sim/cosim/back_ends.h"
#include "sim/platform/platform.h"
#include "tests/system/graphs/beside.h"
#include "tests/system/graphs/graph_bench.h"
#include "tests/system/graphs/mixed_graph.h"
#include "tests/system/graphs/open_graph.h"
#include "tests/system/graphs/operator_judge.h"

namespace npu::test {
namespace {

using graph::Value;
using Results = std::vector<std::vector<Value>>;  // by invocation

constexpr int kInvocations = 2;

// `server` has room for everything; with nano's sizes, as the two others have them, tensors are cut, and sums take many
// steps. `rtl` has its engines in lockstep with their RTL.
presets::Preset machine_of(const std::string& name) {
  if (name == "server") return presets::load_preset(name);
  return name == "small" ? small_float_machine()
                         : presets::load_preset(NPU_SOURCE_DIR "/tests/block/floats_at_once.yaml");
}

platform::PlatformOptions options_of(const presets::Preset& machine, model::Mode mode) {
  platform::PlatformOptions options;
  options.preset = machine;
  options.mode = mode;
  options.control_cpu = false;
  options.jitter_seed = 17;
  options.jitter_max_cycles = mode == model::Mode::kTimed ? 50 : 0;
  return options;
}

runtime::Device open_device(const platform::PlatformOptions& options) {
  runtime::DeviceOptions driver;
  driver.bypass_firmware = true;
  return runtime::Device::open(platform::open_tlm_device(options), driver);
}

Results run(const graph::Graph& graph, runtime::Device& device, const Results& inputs,
            const compiler::Options& options) {
  runtime::Context context = device.create_context();
  runtime::LoadedProgram program = context.load(compiler::compile(graph, device.capabilities(), options));
  runtime::Job job = program.create_job();
  Results results;
  for (const std::vector<Value>& values : inputs) {
    for (size_t i = 0; i < values.size(); ++i) job.set_input(i, values[i]);
    static_cast<void>(job.run());
    results.push_back(job.outputs());
  }
  device.cold_reset();
  return results;
}

std::vector<uint8_t> bytes_of(const Results& results) {
  std::vector<uint8_t> bytes;
  for (const std::vector<Value>& values : results) {
    for (const Value& value : values) bytes.insert(bytes.end(), value.bytes.begin(), value.bytes.end());
  }
  return bytes;
}

// Of a graph as it is, by what the open form made of its tensors.
Results outputs_of(const graph::Graph& graph, const std::vector<Values>& open) {
  Results results;
  for (const Values& values : open) {
    results.emplace_back();
    for (const graph::TensorId id : graph.main().outputs) results.back().push_back(values[id]);
  }
  return results;
}

// The first output that differs, in words; empty: none.
std::string difference(const Results& got, const Results& want) {
  for (size_t i = 0; i < want.size(); ++i) {
    for (size_t k = 0; k < want[i].size(); ++k) {
      if (got[i][k].bytes != want[i][k].bytes) return fmt::format("output {} of invocation {} has other bits", k, i);
    }
  }
  return {};
}

// The first schedule that comes, with one tile buffer or two. The device in the other process gets the best one.
compiler::Options quick(bool double_buffer) {
  compiler::Options options;
  options.schedule.double_buffer = options.schedule.prefetch = double_buffer;
  options.schedule.effort = compiler::Effort::kLeast;
  return options;
}

void print(const Judgements& all) {
  std::cout << all.operators << " operators judged and " << all.undefined << " undefined, " << all.compared
            << " elements compared, " << all.finite << " of them numbers of floating point, " << all.rounded
            << " with other bits than the reference's\n";
  for (const auto& [what, worst] : all.worst) {
    if (worst > 0) std::cout << fmt::format("{:28} {:.3f} of the bound at worst\n", what, worst);
  }
  all.bins.print(std::cout);
}

// What engines in lockstep have compared so far.
struct Compared {
  uint64_t tiles = 0, elements = 0, other_cycles = 0;  // tiles whose cycles or requests are not the formula's
};

// A timed device, for the other process; with its engines in lockstep with their RTL, or on the model alone.
class TimedDevice {
 public:
  TimedDevice(const presets::Preset& machine, bool rtl) : engines_(machine.caps) {
    platform::PlatformOptions options = options_of(machine, model::Mode::kTimed);
    if (rtl) {
      for (const cosim::Unit unit : kUnits) engines_.choose(unit, cosim::BackEnd::kLockstep);
      options.make_mxu = [this] { return engines_.make(cosim::Unit::kMxu); };
      options.make_vpu = [this] { return engines_.make(cosim::Unit::kVpu); };
    }
    device_ = std::make_unique<runtime::Device>(open_device(options));
  }

  // The bytes of the results, and what was compared so far.
  std::vector<uint8_t> operator()(uint32_t seed) {
    const graph::Graph graph = mixed_graph(seed);
    std::vector<uint8_t> bytes;
    try {
      bytes = bytes_of(run(graph, *device_, mixed_inputs(graph, seed, kInvocations), {}));
    } catch (const Error&) {
      if (engines_.failure()) throw std::runtime_error(engines_.failure()->text);
      throw;
    }
    Compared compared;
    for (const cosim::Unit unit : kUnits) {
      const cosim::EngineRecord& record = engines_.record(unit);
      compared.tiles += record.rtl_tiles;
      compared.elements += record.elements;
      compared.other_cycles += 2 * record.cycles.count - record.cycles.exact - record.same_requests;
    }
    const auto* more = reinterpret_cast<const uint8_t*>(&compared);
    bytes.insert(bytes.end(), more, more + sizeof(compared));
    return bytes;
  }

 private:
  static constexpr cosim::Unit kUnits[] = {cosim::Unit::kMxu, cosim::Unit::kVpu};
  cosim::BackEnds engines_;  // outlives the device
  std::unique_ptr<runtime::Device> device_;
};

// One graph on the device of this process, in its open form and as it is, and what came of it in the other process.
void check(const graph::Graph& graph, const Results& inputs, runtime::Device& device, Beside& timed, Judgements& all,
           int64_t lanes, Compared& compared) {
  graph::validate(graph);
  const graph::Graph open = open_form(graph);
  const Results results = run(open, device, inputs, quick(true));
  OperatorJudge judge(graph, all, lanes);
  std::vector<Values> values;
  for (size_t i = 0; i < inputs.size(); ++i) {
    values.push_back(values_of(open, inputs[i], results[i]));
    EXPECT_EQ(judge.judge(values[i]), "") << "invocation " << i;
  }
  const Results want = outputs_of(graph, values);
  EXPECT_EQ(difference(run(graph, device, inputs, quick(false)), want), "") << "fused";
  std::vector<uint8_t> there = timed.next();
  ASSERT_GE(there.size(), sizeof(compared));
  std::memcpy(&compared, there.data() + there.size() - sizeof(compared), sizeof(compared));
  there.resize(there.size() - sizeof(compared));
  EXPECT_TRUE(there == bytes_of(want)) << "timed: outputs have other bits";
}

// NPU_MIXED_GRAPHS says how many graphs, from seed NPU_MIXED_SEED on; the small machine runs a third of them.
class MixedGraphs : public testing::TestWithParam<const char*> {};

TEST_P(MixedGraphs, AreNearTheReferenceAndTheSameHoweverTheyRun) {
  const std::string machine = GetParam();
  const bool rtl = machine == "rtl";
  const uint32_t first = number_from("NPU_MIXED_SEED", 1), graphs = number_from("NPU_MIXED_GRAPHS", 1000);
  const uint32_t count = machine == "small" ? (graphs + 2) / 3 : graphs;
  Beside timed(first, count, [&](uint32_t seed) {
    static TimedDevice device(machine_of(machine), rtl);
    return device(seed);
  });
  runtime::Device device = open_device(options_of(machine_of(machine), model::Mode::kFunctional));
  const int64_t lanes = rtl ? device.capabilities().vpu_lanes : 0;
  Judgements all;
  Compared compared;
  for (uint32_t seed = first; seed < first + count && !HasFailure(); ++seed) {
    SCOPED_TRACE("NPU_MIXED_GRAPHS=1 NPU_MIXED_SEED=" + std::to_string(seed));
    try {
      const graph::Graph graph = mixed_graph(seed);
      check(graph, mixed_inputs(graph, seed, kInvocations), device, timed, all, lanes, compared);
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
  }
  print(all);
  EXPECT_GT(all.operators, all.undefined * 50);
  if (rtl) {
    std::cout << compared.tiles << " tiles in lockstep with the RTL, 0 of " << compared.elements << " elements differ, "
              << compared.other_cycles << " have other cycles or requests\n";
    EXPECT_GE(compared.tiles, 10 * count);
    EXPECT_EQ(compared.other_cycles, 0);
  }
  if (count >= 1000 && !HasFailure()) {
    EXPECT_THAT(all.bins.missed(), testing::IsEmpty());
  }
}

#ifdef NPU_RTL_FLOAT_MACHINES
INSTANTIATE_TEST_SUITE_P(InLockstep, MixedGraphs, testing::Values("rtl"), [](const auto& info) { return info.param; });
#endif

INSTANTIATE_TEST_SUITE_P(Machines, MixedGraphs, testing::Values("server", "small"),
                         [](const auto& info) { return info.param; });

// Additions that ride with a convolution or a matrix product, as the VPU makes them of its results: in every bit, with
// NaNs, infinities and zeros of either sign.
class FloatResiduals : public testing::TestWithParam<bool> {};

TEST_P(FloatResiduals, HaveTheBitsOfAdditionsApart) {
  const uint32_t first = number_from("NPU_MIXED_SEED", 1), graphs = number_from("NPU_MIXED_GRAPHS", 200);
  presets::Preset machine = machine_of(GetParam() ? "small" : "server");
  machine.caps.mxu_residual = 1;
  runtime::Device device =
      open_device(options_of(machine, GetParam() ? model::Mode::kTimed : model::Mode::kFunctional));
  const auto has = [](const compiler::Layer& layer, const char* operators) {
    return layer.operators.find(operators) != std::string::npos;
  };
  size_t additions = 0, fused = 0, compared = 0;
  for (uint32_t seed = first; seed < first + graphs && !HasFailure(); ++seed) {
    SCOPED_TRACE("NPU_MIXED_GRAPHS=1 NPU_MIXED_SEED=" + std::to_string(seed));
    const graph::Graph graph = residual_graph(seed), open = open_form(graph);
    const Results inputs = mixed_inputs(graph, seed, kInvocations);
    const Results apart = run(open, device, inputs, quick(true));
    std::vector<Values> values;
    for (size_t i = 0; i < inputs.size(); ++i) values.push_back(values_of(open, inputs[i], apart[i]));
    const Results want = outputs_of(graph, values);
    EXPECT_EQ(difference(run(graph, device, inputs, {}), want), "");
    compared += bytes_of(want).size();
    for (const compiler::Layer& layer : compiler::lower(graph, device.capabilities()).layers) {
      fused += has(layer, "CONV2D+ADD") || has(layer, "MATMUL+ADD") ? 1 : 0;
    }
    for (const compiler::Layer& layer : compiler::lower(open, device.capabilities()).layers) {
      EXPECT_FALSE(has(layer, "CONV2D+") || has(layer, "MATMUL+")) << layer.operators;
      additions += has(layer, "ADD") ? 1 : 0;
    }
  }
  std::cout << fused << " of " << additions << " additions ride with what makes their values, " << compared
            << " bytes compared\n";
  EXPECT_GT(fused, additions * 9 / 10);
}

INSTANTIATE_TEST_SUITE_P(Machines, FloatResiduals, testing::Bool(),
                         [](const auto& info) { return info.param ? "small" : "server"; });

// The one difference of fused operators: the MXU clamps its sum before it rounds it to 16 bits. Here that is -3e-8.
TEST(FusedClamp, MakesEitherZeroOfWhatRoundsToZero) {
  graph::GraphBuilder b;
  const graph::TensorId x = b.input("x", graph::DType::kFp16, {1, 1, 1, 1});
  const auto constant = [&](const graph::Shape& shape, double value) {
    return b.constant(graph::DType::kFp16, shape, std::vector<double>{value});
  };
  b.output(b.clamp(b.conv2d(x, constant({1, 1, 1, 1}, 0.25), constant({1}, -0.0)), 0, 6));
  const Results inputs = {{{graph::DType::kFp16, {1, 1, 1, 1}, {0x02, 0x80}}}};
  runtime::Device device = open_device(options_of(machine_of("server"), model::Mode::kFunctional));
  const graph::Graph fused = b.build(), open = open_form(fused);
  const Results got = run(fused, device, inputs, quick(true)), results = run(open, device, inputs, quick(true));
  const Results want = outputs_of(fused, {values_of(open, inputs[0], results[0])});
  EXPECT_THAT(got[0][0].bytes, testing::ElementsAre(0, 0));
  EXPECT_THAT(want[0][0].bytes, testing::ElementsAre(0, 0x80));
  EXPECT_EQ(difference(got, want), "output 0 of invocation 0 has other bits");
}

}  // namespace
}  // namespace npu::test
