// SPDX-License-Identifier: Apache-2.0
// The smallest network of each operator and combination of types that has floating point, on the device against the
// reference, within units of the result's largest number.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

#include "driver/compiler/compile.h"
#include "driver/compiler/promote.h"
#include "driver/compiler/support.h"
#include "driver/graph/analyse.h"
#include "driver/graph/float_format.h"
#include "driver/runtime/runtime.h"
#include "hw/contract/error.h"
#include "sim/generator/operator_forms.h"
#include "sim/platform/platform.h"
#include "sim/reference/reference.h"
#include "sim/workload/float_check.h"
#include "tests/system/graphs/operator_bounds.h"

namespace npu::test {
namespace {

struct Run {
  const char* machine;
  model::Mode mode;
  const char* name;
  bool promoted = false;  // the MXU has but FP32, and the compiler is asked to use it
};

class FloatOperators : public testing::TestWithParam<Run> {};

struct Counts {
  int64_t networks = 0, compared = 0, rounded = 0, refused = 0;
};

// Whether the form's operator only moves elements, whose bits stay then.
bool moves(const generator::OperatorForm& form) {
  const std::vector<graph::Operator>& operators = form.sample.graph.main().operators;
  const auto found = std::ranges::find(operators, form.info->op, &graph::Operator::op);
  return found != operators.end() && bound_of(*found) == Bound::kBits;
}

void compare(const graph::Value& got, const graph::Value& want, Counts& counts) {
  if (!graph::float_format(want.type)) {
    const graph::Difference difference = graph::compare(got, want);
    EXPECT_EQ(difference.differing, 0);
    counts.compared += difference.compared;
    return;
  }
  const workload::FloatDifference difference = workload::compare_floats(got, want);
  EXPECT_EQ(difference.differing, 0) << "worst " << difference.worst << " units";
  counts.compared += difference.compared;
  counts.rounded += difference.rounded;
}

void run_sample(const generator::OperatorForm& form, bool promoted, runtime::Device& device, Counts& counts) {
  const generator::OperatorSample& sample = form.sample;
  runtime::Context context = device.create_context();
  compiler::Options compiling;
  compiling.promote_to_fp32 = promoted;
  runtime::LoadedProgram program = context.load(compiler::compile(sample.graph, device.capabilities(), compiling));
  runtime::Job job = program.create_job();
  reference::Context state;
  const std::vector<graph::Value> want = reference::run(sample.graph, sample.inputs, state);
  for (size_t i = 0; i < sample.inputs.size(); ++i) job.set_input(i, sample.inputs[i]);
  static_cast<void>(job.run());
  const std::vector<graph::Value> got = job.outputs();
  const int64_t before = counts.rounded;
  for (size_t i = 0; i < want.size(); ++i) compare(got.at(i), want[i], counts);
  if (moves(form)) {
    EXPECT_EQ(counts.rounded, before) << "other bits, of an operator that moves them";
  }
  ++counts.networks;
}

TEST_P(FloatOperators, AreNearTheReference) {
  platform::PlatformOptions options;
  options.preset = presets::load_preset(GetParam().machine);
  if (GetParam().promoted) {
    contract::Capabilities& caps = options.preset.caps;
    caps.mxu_fp8_cycles = caps.mxu_fp16_cycles = caps.mxu_bf16_cycles = 0;
  }
  options.mode = GetParam().mode;
  options.control_cpu = false;
  runtime::DeviceOptions driver;
  driver.bypass_firmware = true;
  runtime::Device device = runtime::Device::open(platform::open_tlm_device(options), driver);
  Counts counts;
  for (const generator::OperatorForm& form : generator::operator_forms()) {
    if (!graph::has_floats(form.sample.graph)) continue;
    SCOPED_TRACE(std::string(name(form.info->op)) + " " + form.text);
    const graph::Graph graph =
        GetParam().promoted ? compiler::promote(form.sample.graph, device.capabilities()) : form.sample.graph;
    const auto rows = compiler::support(graph, device.capabilities());
    if (!std::ranges::all_of(rows, &compiler::SupportRow::ok)) {
      ++counts.refused;
      continue;
    }
    try {
      run_sample(form, GetParam().promoted, device, counts);
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
    }
    device.cold_reset();
  }
  std::cout << counts.networks << " networks run and " << counts.refused << " refused, " << counts.compared
            << " elements compared, " << counts.rounded << " with other bits than the reference's\n";
  EXPECT_GT(counts.networks, 0);
  EXPECT_EQ(counts.refused > 0, device.capabilities().vpu_float == 0);
}

// The small machines move floating point, and refuse to compute with it.
INSTANTIATE_TEST_SUITE_P(Machines, FloatOperators,
                         testing::Values(Run{"server", model::Mode::kFunctional, "server_functional"},
                                         Run{"server", model::Mode::kTimed, "server_timed"},
                                         Run{"server", model::Mode::kFunctional, "server_promoted", true},
                                         Run{"nano", model::Mode::kTimed, "nano_timed"}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace npu::test
