// SPDX-License-Identifier: Apache-2.0
// Graphs whose variable has two values within one step of the device: the old one and the new one, or two new ones.
#include <gtest/gtest.h>

#include <iostream>

#include "driver/graph/builder.h"
#include "hw/contract/gen/registers.h"
#include "tests/system/device/bench.h"
#include "tests/system/state/networks.h"
#include "tests/system/state/side_by_side.h"

namespace npu::test {
namespace {

using graph::DType;
using graph::GraphBuilder;
using graph::TensorId;

runtime::Device edge(bool control_cpu) {
  platform::PlatformOptions machine = options("edge", model::Mode::kTimed);
  machine.control_cpu = control_cpu;
  return open_device(machine);
}

graph::Rescaling by_one() {
  graph::Rescaling r;
  r.scale32 = true;
  r.multiplier = {double{1 << 30}};
  r.shift = {30};
  return r;
}

// new = f(x, y), out = g(new, old): f and g are XOR or a sum of rescaled values, out may take in old once more, and
// half of it may go by way of a CONCAT.
graph::Graph old_and_new(uint32_t form) {
  GraphBuilder b;
  const graph::Shape shape{1, 8, 37};
  const auto widen = [&](TensorId x) { return b.rescale(x, DType::kInt32, by_one()); };
  const auto mix = [&](TensorId i, TensorId j) { return b.rescale(b.add(widen(i), widen(j)), DType::kInt8, by_one()); };
  const auto either = [&](bool sum, TensorId i, TensorId j) {
    return sum ? mix(i, j) : b.op(graph::Op::kBitwiseXor, {i, j});
  };
  const TensorId v = b.variable("v", DType::kInt8, shape, {{7}});
  const TensorId x = b.input("x", DType::kInt8, shape), y = b.input("y", DType::kInt8, shape);
  const TensorId old = b.read(v), fresh = either((form & 1) != 0, x, y);
  TensorId out = either((form & 2) != 0, fresh, old);
  if ((form & 4) != 0) out = mix(old, out);
  b.write(v, fresh);
  if ((form & 8) != 0) {
    out = b.concat({b.slice(x, {0, 0, 0}, {1, 4, 37}), b.slice(out, {0, 4, 0}, {1, 4, 37})}, 1);
  }
  b.output(out, "out");
  return b.build();
}

TEST(OneStep, WantsTheOldValueAndMakesTheNewOne) {
  constexpr uint32_t kForms = 16, kSeed = 1;
  runtime::Device device = edge(false);
  int64_t compared = 0;
  for (uint32_t form = 0; form < kForms; ++form) {
    for (const uint32_t places : {0u, 1u, 2u, 3u}) {
      SCOPED_TRACE(testing::Message() << "form " << form << ", places " << places);
      runtime::ContextOptions context;
      context.double_buffer = (places & 1) != 0;
      compiler::Options options;
      options.schedule.two_places = context.double_buffer;
      options.schedule.state_in_dram = (places & 2) != 0;
      SideBySide both(device, context);
      const graph::Graph graph = old_and_new(form);
      const size_t id = both.load(graph, options);
      std::mt19937 random(kSeed);
      for (int step = 0; step < 3; ++step) both.step(id, random_inputs(graph, random));
      ASSERT_EQ(both.compared().differing, 0);
      compared += both.compared().outputs + both.compared().state;
    }
  }
  std::cout << kForms << " forms, seed " << kSeed << ": " << compared << " elements compared\n";
  EXPECT_GT(compared, 0);
}

// One execution writes v twice and reads it in between; the second write breaks off wherever it may.
TEST(OneStep, TwoWritesThatBreakOffLeaveTheOldValueOrTheNew) {
  constexpr int64_t kBytes = 64;
  runtime::Device device = edge(true);
  GraphBuilder b;
  const TensorId v = b.variable("v", DType::kInt8, {kBytes}, {{7}});
  const TensorId x = b.input("x", DType::kInt8, {kBytes}), y = b.input("y", DType::kInt8, {kBytes});
  b.write(v, x);
  b.output(b.read(v), "first");
  b.write(v, y);
  const compiler::Program program = compiler::compile(b.build(), device.capabilities(), {});
  const auto filled = [](uint8_t byte) {
    return graph::Value{DType::kInt8, {kBytes}, std::vector<uint8_t>(static_cast<size_t>(kBytes), byte)};
  };
  int broken = 0, old = 0;
  for (uint32_t byte = 1; byte <= 2 * kBytes; byte += 9) {
    SCOPED_TRACE(testing::Message() << "after " << byte << " bytes");
    runtime::ContextOptions options;
    options.double_buffer = true;
    runtime::Context context = device.create_context(options);
    runtime::LoadedProgram loaded = context.load(program);
    runtime::Job job = loaded.create_job();
    job.set_input(0, filled(1));
    job.set_input(1, filled(2));
    device.write_register(contract::reg::kTestBrownout, byte);
    try {
      job.run();
      EXPECT_EQ(job.outputs().at(0).bytes, filled(1).bytes);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), contract::ErrorCode::kFaultPower);
      ++broken;
    }
    device.write_register(contract::reg::kTestBrownout, 0);
    const std::vector<uint8_t> now = context.read_variable("v").bytes;
    EXPECT_TRUE(now == filled(7).bytes || now == filled(2).bytes) << "it is " << int{now[0]};
    if (now == filled(7).bytes) ++old;
  }
  std::cout << broken << " writes broken off, " << old << " times the old value\n";
  EXPECT_GT(broken, 0);
  EXPECT_GT(old, 0);
}

}  // namespace
}  // namespace npu::test
