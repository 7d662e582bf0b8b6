// SPDX-License-Identifier: Apache-2.0
// The first cycle in which ports leave their schedule is found, and said.
#include "hw/timing/port_watch.h"

#include <gtest/gtest.h>

namespace npu::timing {
namespace {

// Asks on port 0 until it was granted three times.
class ThreeRequests final : public SteppedSchedule<ThreeRequests> {
 public:
  [[nodiscard]] Ports asking() const override { return done() ? 0 : 1; }
  void step(Ports granted) override { granted_ += granted; }
  [[nodiscard]] bool done() const override { return granted_ == 3; }

 private:
  uint32_t granted_ = 0;
};

PortWatch watch() { return PortWatch(std::make_unique<ThreeRequests>()); }

TEST(PortWatch, FollowsWhateverIsGranted) {
  PortWatch ports = watch();
  for (const Ports granted : {1u, 0u, 0u, 1u}) ports.see(1, granted, false);
  ports.see(1, 1, true);
  EXPECT_EQ(ports.difference(), "");
  EXPECT_EQ(ports.cycles(), 5u);
}

TEST(PortWatch, SaysWhoAsksWhenAndWhatElse) {
  PortWatch ports = watch();
  ports.see(1, 1, false);
  ports.see(5, 1, false);
  EXPECT_EQ(ports.difference(), "in cycle 2 the RTL asks on ports 00101, the schedule on 00001");
  ports.see(0, 0, true);  // the first is what counts
  EXPECT_EQ(ports.difference(), "in cycle 2 the RTL asks on ports 00101, the schedule on 00001");
  EXPECT_EQ(ports.cycles(), 3u);
}

TEST(PortWatch, SaysWhoIsDone) {
  PortWatch early = watch(), late = watch();
  early.see(1, 1, true);
  EXPECT_EQ(early.difference(), "behind cycle 1 the RTL is done, the schedule is not");
  for (int i = 0; i < 3; ++i) late.see(1, 1, false);
  EXPECT_EQ(late.difference(), "behind cycle 3 the schedule is done, the RTL is not");
}

}  // namespace
}  // namespace npu::timing
