// SPDX-License-Identifier: Apache-2.0
#include "sim/report/command_list.h"

#include <gtest/gtest.h>

#include "tests/unit/report/fixture.h"

namespace npu::report {
namespace {

TEST(CommandList, KnowsWhatCommandsMove) {
  const std::vector<CommandInfo> commands = list_commands(sample_program());
  ASSERT_EQ(commands.size(), 8u);
  const std::vector<Transfer> want = {Transfer::kNone, Transfer::kNone,      Transfer::kConstants, Transfer::kState,
                                      Transfer::kNone, Transfer::kDramWrite, Transfer::kState,     Transfer::kNone};
  for (size_t i = 0; i < want.size(); ++i) EXPECT_EQ(commands[i].transfer, want[i]) << i;
}

TEST(CommandList, KnowsWhoUsesVariables) {
  const std::vector<CommandInfo> commands = list_commands(sample_program());
  const auto use = [&](size_t i) { return commands[i].variables.at(0).use; };
  EXPECT_EQ(use(1), VariableUse::kDeclare);
  EXPECT_EQ(use(3), VariableUse::kRead);
  EXPECT_EQ(use(6), VariableUse::kWrite);
  EXPECT_TRUE(commands[2].variables.empty());
}

TEST(CommandList, StoresOfMicroProgramsWrite) {
  compiler::Program program;
  contract::VpuEwiseCommand ewise;
  ewise.operands.resize(2);
  ewise.operands[0].base = {0, contract::Region::kVariable, 3};
  ewise.operands[1].base = {0, contract::Region::kVariable, 4};
  ewise.uops = {{contract::UopCode::kLoad, 0, 0, 0, 0, 0}, {contract::UopCode::kStore, 0, 0, 1, 0, 0}};
  ewise.encode(program.commands);
  program.main_words = static_cast<uint32_t>(program.commands.size());
  const CommandInfo info = list_commands(program).at(0);
  ASSERT_EQ(info.variables.size(), 2u);
  EXPECT_EQ(info.variables[0].variable, 3u);
  EXPECT_EQ(info.variables[0].use, VariableUse::kRead);
  EXPECT_EQ(info.variables[1].variable, 4u);
  EXPECT_EQ(info.variables[1].use, VariableUse::kWrite);
}

TEST(CommandList, AnOperandThatIsLoadedAndStoredIsReadAndWritten) {
  compiler::Program program;
  contract::VpuEwiseCommand ewise;
  ewise.operands.resize(1);
  ewise.operands[0].base = {0, contract::Region::kVariable, 3};
  ewise.uops = {{contract::UopCode::kLoad, 0, 0, 0, 0, 0}, {contract::UopCode::kStore, 0, 0, 0, 0, 0}};
  ewise.encode(program.commands);
  program.main_words = static_cast<uint32_t>(program.commands.size());
  const CommandInfo info = list_commands(program).at(0);
  ASSERT_EQ(info.variables.size(), 2u);
  EXPECT_EQ(info.variables[0].use, VariableUse::kRead);
  EXPECT_EQ(info.variables[1].use, VariableUse::kWrite);
}

}  // namespace
}  // namespace npu::report
