// Variables: what the program says of them, where they live, and in which order the commands reach them.
#include <gtest/gtest.h>

#include "tests/unit/compiler/back_checks.h"
#include "tests/unit/compiler/back_modules.h"

namespace npu::compiler::testing {
namespace {

using contract::Element;

TEST(BackState, ProgramSaysWhoReadsAndWritesWhat) {
  ModuleBuilder m(1);
  const View in = m.input({4, 64}), kept = m.variable({4, 64});
  static_cast<void>(m.variable({2, 8}));
  const View read_only = m.variable({1, 64});
  const View sum = m.tensor({4, 64}, Element::kI8), out = m.tensor({4, 64}, Element::kI8, true);
  m.add(in, kept, sum);
  m.add(sum, broadcast(read_only, {4, 64}), out);
  m.copy(sum, kept, true);
  const Program program = schedule(Module(m.module), edge_capabilities());
  ASSERT_EQ(program.variables.size(), 3u);
  const Variable& first = program.variables[0];
  EXPECT_TRUE(first.written);
  EXPECT_EQ(first.writer, program.layers[5].name);
  EXPECT_EQ(first.read_bytes, 256u);
  EXPECT_EQ(first.written_bytes, 256u);
  const Variable& second = program.variables[1];
  EXPECT_FALSE(second.written);
  EXPECT_EQ(second.writer, "");
  EXPECT_EQ(second.read_bytes + second.written_bytes, 0u);
  EXPECT_EQ(program.variables[2].read_bytes, 64u);
  EXPECT_EQ(program.variables[2].written_bytes, 0u);
  for (const Variable& variable : program.variables) EXPECT_FALSE(variable.in_dram);
  EXPECT_EQ(check_module(m.module, edge_capabilities(), {}, 1, 3), "");
}

}  // namespace
}  // namespace npu::compiler::testing
