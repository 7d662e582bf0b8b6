// SPDX-License-Identifier: Apache-2.0
// Where the persistent SRAM has no room for two places of what a program writes, variables live in DRAM, with two
// places there; no bit changes, and a write that breaks off leaves the old value wherever it is.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

#include "hw/contract/gen/registers.h"
#include "tests/system/device/bench.h"
#include "tests/system/state/networks.h"
#include "tests/system/state/seed.h"
#include "tests/system/state/side_by_side.h"

namespace npu::test {
namespace {

using contract::ErrorCode;

// Four variables of 320 bytes, and a machine whose table takes 512.
constexpr AttentionSizes kSizes{20, 16, 2};
constexpr uint64_t kVariables = 4, kVariableBytes = 320, kTable = 512;

struct Machine {
  std::string name;
  uint32_t psram_bytes;
  uint64_t once, twice;  // variables that fit with one place, with two
};
const std::vector<Machine> kMachines = {
    {"fits_twice", 4096, 4, 4}, {"fits_once_only", 2048, 4, 2}, {"does_not_fit", 1024, 1, 0}};

class TwoPlaces : public testing::TestWithParam<std::tuple<Machine, model::Mode>> {
 protected:
  static platform::PlatformOptions small_machine() {
    const auto& [machine, mode] = GetParam();
    platform::PlatformOptions small = options("edge", mode);
    small.preset.caps.psram_bytes = machine.psram_bytes;
    small.preset.caps.var_entries = kTable / contract::VariableEntry::kBytes;
    return small;
  }
  static runtime::ContextOptions double_buffer() {
    runtime::ContextOptions options;
    options.double_buffer = true;
    return options;
  }
  // Of the context's variables, all of which have two places.
  static uint64_t in_sram(const runtime::Context& context) {
    uint64_t count = 0;
    for (const runtime::VariableInfo& info : context.variables()) {
      EXPECT_TRUE(info.double_buffered) << info.identity;
      count += info.in_dram ? 0 : 1;
    }
    return count;
  }

  std::mt19937 random_{print_seed(0)};
  const graph::Graph graph_ = attention_step(kSizes, 1);
  runtime::Device device_ = open_device(small_machine());
};

TEST_P(TwoPlaces, SpillAndChangeNoBit) {
  ASSERT_EQ(attention_state_bytes(kSizes), static_cast<int64_t>(kVariables * kVariableBytes));
  const Machine& machine = std::get<0>(GetParam());
  compiler::Options compile;
  compile.schedule.two_places = true;
  SideBySide both(device_, double_buffer());
  const size_t program = both.load(graph_, compile);
  for (int step = 0; step < 40 && !HasFailure(); ++step) both.step(program, random_inputs(graph_, random_));
  EXPECT_EQ(in_sram(both.context()), machine.twice);

  // Power breaks down after so many bytes of what a step writes to variables.
  int64_t old = 0, fresh = 0;
  for (int trial = 0; trial < 40 && !HasFailure(); ++trial) {
    const runtime::Snapshot before = both.context().snapshot();
    device_.write_register(contract::reg::kTestBrownout,
                           static_cast<uint32_t>(1 + random_() % (kVariables * kVariableBytes)));
    try {
      both.run(program, random_inputs(graph_, random_));
      ADD_FAILURE() << "nothing broke down";
    } catch (const Error& error) {
      ASSERT_EQ(error.code(), ErrorCode::kFaultPower) << error.what();
    }
    for (const runtime::SnapshotVariable& variable : before.variables) {
      const std::vector<uint8_t> got = both.context().read_variable(variable.identity).bytes;
      const bool is_new = got == both.state(variable.identity).bytes;
      EXPECT_TRUE(is_new || got == variable.bytes) << variable.identity << " is neither old nor new";
      ++(is_new ? fresh : old);
    }
    both.start_again();
    both.step(program, random_inputs(graph_, random_));
  }
  EXPECT_EQ(in_sram(both.context()), machine.twice);
  EXPECT_GT(old, 0);
  EXPECT_GT(fresh, 0);
  std::cout << machine.twice << " of " << kVariables << " variables in persistent SRAM; after 40 brown-outs " << old
            << " old and " << fresh << " new values\n";
  both.report(machine.name);
}

// Compiled for one place, what fits once is not moved behind the program's back.
TEST_P(TwoPlaces, ThatWereNotCompiledForAreRefusedOrFit) {
  const Machine& machine = std::get<0>(GetParam());
  SideBySide one(device_);
  one.step(one.load(graph_), random_inputs(graph_, random_));
  const std::vector<runtime::VariableInfo> variables = one.context().variables();
  EXPECT_EQ(std::count_if(variables.begin(), variables.end(), [](const auto& info) { return !info.in_dram; }),
            static_cast<int64_t>(machine.once));
  one.context().clear();
  one.report(machine.name + ", one place", 2);

  SideBySide two(device_, double_buffer());
  if (machine.once == machine.twice) {
    two.step(two.load(graph_), random_inputs(graph_, random_));
    EXPECT_EQ(in_sram(two.context()), machine.twice);
    return;
  }
  try {
    static_cast<void>(two.load(graph_));
    ADD_FAILURE() << "it fits";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kPersistentFull);
    EXPECT_NE(std::string(error.what()).find("two_places"), std::string::npos) << error.what();
  }
  EXPECT_TRUE(two.context().variables().empty());
}

INSTANTIATE_TEST_SUITE_P(, TwoPlaces,
                         testing::Combine(testing::ValuesIn(kMachines),
                                          testing::Values(model::Mode::kFunctional, model::Mode::kTimed)),
                         [](const auto& info) {
                           return std::get<0>(info.param).name +
                                  (std::get<1>(info.param) == model::Mode::kTimed ? "_timed" : "_functional");
                         });

}  // namespace
}  // namespace npu::test
