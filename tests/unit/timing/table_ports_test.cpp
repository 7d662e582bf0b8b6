// SPDX-License-Identifier: Apache-2.0
// When an operation on the variable table asks for its rows, and how long it takes.
#include "hw/timing/table_ports.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>
#include <vector>

namespace npu::timing {
namespace {

constexpr TableAccesses kTable{8, 1};

// What it asks for in each cycle from the one in which it is taken: '.' nothing, 'r' a row that it gets, 'w' a write
// that it gets, 'x' one of the two that others hold up.
std::string played(const TableOperation& operation, const std::function<bool()>& grants, bool late = false) {
  TablePorts ports(operation, late);
  std::string text;
  while (!ports.done()) {
    const Ports asking = ports.asking();
    EXPECT_LE(ports.cycles_left(), table_cycles(operation) + (late ? 1 : 0));
    const bool granted = asking != 0 && grants();
    text += asking == 0 ? '.' : !granted ? 'x' : ports.writes() ? 'w' : 'r';
    ports.step(granted ? asking : 0);
  }
  EXPECT_EQ(ports.asking(), 0u);
  EXPECT_EQ(ports.cycles_left(), 0u);
  return text;
}
std::string alone(const TableOperation& operation) {
  return played(operation, [] { return true; });
}
std::string with(const TableOperation& operation, std::vector<bool> grants) {
  size_t next = 0;
  return played(operation, [&] { return next >= grants.size() || grants[next++]; });
}

TEST(TablePorts, ReadARowACycle) {
  EXPECT_EQ(alone(kTable.check()), ".r..");
  EXPECT_EQ(alone(kTable.begin_write()), ".r..w..");
  EXPECT_EQ(alone(kTable.commit()), ".r..w..");
  EXPECT_EQ(alone(kTable.declare(true)), ".r..w..");
  EXPECT_EQ(alone(kTable.declare(false)), ".rrrrrrrrr..w..");
  EXPECT_EQ(alone(kTable.begin_job()), ".rrrrrrrr..");
  EXPECT_EQ(played(
                kTable.check(), [] { return true; }, true),
            "..r..");
}

// Rows behind the one that is written are asked for until its answer is there, and once more later.
TEST(TablePorts, AReadThatEndsEarlyDropsWhatItAskedFor) {
  EXPECT_EQ(alone(kTable.begin_job(std::vector<uint32_t>{2})), ".rrrrrw..rrrrr..");
  EXPECT_EQ(alone(kTable.begin_job(std::vector<uint32_t>{0, 1, 7})), ".rrrw..rrrw..rrrrrr..w..");
  EXPECT_EQ(alone({{2, 6, false}, {}}), ".rrrr");
  EXPECT_EQ(alone({{2, 1, false}, {}}), ".rrr.");
}

TEST(TablePorts, GoOnAskingForWhatIsOnOffer) {
  EXPECT_EQ(with(kTable.declare(true), {false, false, true, false}), ".xxr..xw..");
  EXPECT_EQ(with({{2, 6, false}, {}}, {true, true, false, false, false}), ".rrxxxr");
  EXPECT_EQ(with({{2, 6, true}, {}}, {true, true, true, false, false, true, false}), ".rrrxxrxw..");
  EXPECT_EQ(with({{2, 6, false}, {}}, {true, true, false, true}), ".rrxr");
}

TEST(TablePorts, TakeAsLongAsTheFormulaSays) {
  std::mt19937_64 random(5);
  for (int trial = 0; trial < 200; ++trial) {
    TableOperation operation;
    for (uint64_t runs = 1 + random() % 4; runs > 0; --runs) {
      operation.add({1 + random() % 9, random() % 5, runs > 1 || random() % 2 == 0});
    }
    EXPECT_EQ(alone(operation).size(), table_cycles(operation));
    EXPECT_GE(played(operation, [&] { return random() % 3 != 0; }).size(), table_cycles(operation));
  }
  EXPECT_EQ(table_cycles(TableOperation{}), alone({}).size());
}

}  // namespace
}  // namespace npu::timing
