// The CPU runs code and reaches what its address map says.
#include "tests/firmware/cpu/bench.h"

namespace npu::model::testing {

TEST(CpuRun, ReachesItsAddressMap) {
  Bench bench;
  EXPECT_EQ(bench.status(), 0u);
  ASSERT_TRUE(bench.start("hello"));
  EXPECT_EQ(bench.results(4), (std::vector<uint32_t>{reg::kIdReset, 0x1234, 0x78, 0}));
  EXPECT_EQ(bench.uart, "A");
  EXPECT_EQ(bench.dram().data[0x101], 0x56);
  EXPECT_EQ(bench.status(), reg::kCpuStatusRunningMask | reg::kCpuStatusWaitingMask);
}

}  // namespace npu::model::testing
