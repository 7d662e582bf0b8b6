// SPDX-License-Identifier: Apache-2.0
#include "driver/runtime/mock_hal.h"

#include <gtest/gtest.h>

#include "hw/contract/gen/registers.h"
#include "tests/unit/runtime/fixture.h"

namespace npu::runtime {
namespace {

namespace reg = contract::reg;

TEST(MockHal, ReportsTheFirstDeviation) {
  MockHal mock(small_machine());
  mock.expect({MockHal::read(reg::kStatus, 2), MockHal::write(reg::kIrqStatus, 1)});
  EXPECT_EQ(mock.read_register(reg::kStatus), 2u);
  EXPECT_THROW(mock.write_register(reg::kIrqStatus, 3), MockHal::Deviation);
  EXPECT_EQ(mock.deviation(), "access 1 is: write irq_status = 0x3; expected: write irq_status = 0x1");
  EXPECT_THROW(mock.write_register(reg::kControl, 3), MockHal::Deviation);
  EXPECT_EQ(mock.deviation(), "access 1 is: write irq_status = 0x3; expected: write irq_status = 0x1");
}

TEST(MockHal, ReportsAMissingTail) {
  MockHal mock(small_machine());
  mock.expect({MockHal::wait(true), MockHal::fill_dram(64, 8, 0xa5)});
  EXPECT_TRUE(mock.wait_interrupt(std::chrono::seconds(1)));
  EXPECT_EQ(mock.deviation(), "access 1 never came: fill 8 bytes of DRAM at 0x40 = 0xa5");
}

TEST(MockHal, RefusesSurplusTraffic) {
  MockHal mock(small_machine());
  mock.expect({});
  EXPECT_EQ(mock.deviation(), "");
  EXPECT_THROW(static_cast<void>(mock.read_register(reg::region_limit(3))), MockHal::Deviation);
  EXPECT_EQ(mock.deviation(), "access 0 is: read region_limit[3]; expected: nothing more");
}

TEST(MockHal, ComparesMemoryContents) {
  MockHal mock(small_machine());
  mock.expect({MockHal::write_dram(0, {1, 2}), MockHal::write_psram(4, {3})});
  mock.write_memory(0, std::vector<uint8_t>{1, 2});
  EXPECT_THROW(mock.write_window(runtime::Window::kPersistent, 4, std::vector<uint8_t>{4}), MockHal::Deviation);
}

TEST(MockHal, AnswersFromPlainMemoryOtherwise) {
  MockHal mock(small_machine());
  mock.write_register(reg::kVarIndex, 2);
  mock.write_register(reg::kVarWord1, 0x11223344);
  EXPECT_EQ(mock.persistent()[2 * 16 + 4], 0x44);
  EXPECT_EQ(mock.read_register(reg::kVarWord1), 0x11223344u);
  std::vector<uint8_t> bytes(2, 1);
  mock.read_memory(5000, bytes);
  EXPECT_EQ(bytes, (std::vector<uint8_t>{0, 0}));
  EXPECT_FALSE(mock.wait_interrupt(std::chrono::seconds(1)));
  EXPECT_EQ(mock.log().size(), 5u);
}

}  // namespace
}  // namespace npu::runtime
