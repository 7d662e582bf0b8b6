// SPDX-License-Identifier: Apache-2.0
// Random requests, jobs and indices: the firmware answers every request once, in the ring's order, and never traps.
#include <random>

#include "tests/firmware/firmware_fixture.h"

namespace npu::firmware_test {
namespace {

using contract::ErrorCode;
using contract::Request;

class RandomTest : public FirmwareTest, public testing::WithParamInterface<uint32_t> {
 protected:
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }
  bool one_in(uint32_t n) { return below(n) == 0; }

  // Numbers at which something begins or ends, and others.
  uint64_t address() {
    static constexpr uint64_t kEdges[] = {0,
                                          RingDriver::kShared,
                                          RingDriver::kJobs,
                                          RingDriver::kSegments,
                                          kStream,
                                          RingDriver::kShared + RingDriver::kSharedBytes,
                                          uint64_t{FakeDevice::kDramMib} << 20,
                                          uint64_t{1} << 31,
                                          uint64_t{1} << 32,
                                          UINT64_MAX - 63};
    const uint64_t edge = kEdges[below(std::size(kEdges))];
    return one_in(2) ? edge : edge + 64 * uint64_t{below(64)} - 64 * uint64_t{below(64)} + below(2) * 4;
  }

  contract::Job any_job() {
    contract::Job job = yielding_job(below(4), 128 * below(2));
    if (one_in(3)) {
      if (one_in(4)) job.commands = address();
      if (one_in(4)) job.command_words = static_cast<uint32_t>(random_());
      if (one_in(4)) job.events = address(), job.event_capacity = below(1 << 20);
      if (one_in(4)) job.counters = address();
      if (one_in(4)) job.segments = address(), job.segment_count = static_cast<uint32_t>(address());
      const uint32_t region = below(6);
      if (one_in(2)) job.region_base[region] = address();
      if (one_in(2)) job.region_limit[region] = static_cast<uint32_t>(address());
      if (one_in(2)) job.region_flags[region] = below(256);
    }
    if (one_in(8)) job.not_before = device.time() + below(100'000);
    if (one_in(4)) job.cycle_limit = 1 + below(200'000);
    return job;
  }

  std::vector<uint32_t> any_values() {
    std::vector<uint32_t> values(8);
    for (uint32_t& value : values) value = one_in(4) ? static_cast<uint32_t>(random_()) : below(20);
    return values;
  }

  // How the stream in the core may end.
  void end_stream() {
    switch (below(6)) {
      case 0:
        device.end_fault(ErrorCode::kFaultOutOfBounds, below(100));
        break;
      case 1:
      case 2:
        device.end_preempted(below(1000), one_in(4) ? below(100) : 32, one_in(6) ? below(100) : 0);
        break;
      case 3:  // it does not
        device.pass(below(100'000));
        break;
      default:
        device.end_done(below(10'000), below(50));
    }
  }

  // Takes what has completed; ids of a ring come in order.
  void take_all() {
    for (uint32_t ring = 0; ring < 6; ++ring) {
      while (const auto completion = driver.take(ring)) {
        ASSERT_FALSE(expected_[ring].empty()) << "ring " << ring;
        EXPECT_EQ(completion->id, expected_[ring].front()) << "ring " << ring;
        expected_[ring].erase(expected_[ring].begin());
      }
    }
  }

  std::mt19937 random_{GetParam()};
  std::vector<uint32_t> expected_[6];
};

TEST_P(RandomTest, EveryRequestIsAnsweredOnce) {
  boot(below(4));
  for (uint32_t ring = 1; ring < 6; ++ring) open(ring, below(4));
  for (int i = 0; i < 400; ++i) {
    const uint32_t ring = below(6);
    if (expected_[ring].size() < RingDriver::kEntries) {
      // Opening and closing contexts would change what is expected.
      static constexpr Request kAdmin[] = {
          Request::kNop,          Request::kRun,   Request::kCancel, Request::kVariableWrite,
          Request::kVariableRead, Request::kPower, Request{4711}};
      const bool run = ring != 0 && !one_in(8);
      std::vector<uint32_t> values = any_values();
      const Request type = run ? Request::kRun : kAdmin[below(std::size(kAdmin))];
      if (type == Request::kCancel && one_in(2) && !expected_[values[0] % 5 + 1].empty()) {
        values[0] = values[0] % 5 + 1;
        values[1] = expected_[values[0]].front();
      }
      const uint64_t argument = !run || one_in(10) ? address() : driver.put_job(any_job(), ring * 8 + below(8));
      expected_[ring].push_back(driver.submit(ring, type, argument, values));
    }
    ASSERT_TRUE(one_in(2) || device.run());
    if (device.busy && one_in(2)) end_stream();
    ASSERT_TRUE(one_in(2) || device.run());
    if (one_in(3)) take_all();
    ASSERT_FALSE(device.stopped()) << device.uart;
  }
  for (int i = 0; i < 400; ++i) {
    ASSERT_TRUE(device.pass(20'000));
    if (device.busy) device.end_done(10);
    take_all();
  }
  for (uint32_t ring = 0; ring < 6; ++ring) {
    EXPECT_TRUE(expected_[ring].empty()) << "ring " << ring << ": " << expected_[ring].size();
    EXPECT_EQ(driver.header(ring).error, 0u);
  }
  EXPECT_FALSE(device.stopped());
}

TEST_P(RandomTest, AnyIndicesAndAnyRequestsNeverStopIt) {
  const auto begin = [&] {
    boot(below(4));
    for (uint32_t ring = 1; ring < 6; ++ring) open(ring, below(4));
  };
  begin();
  for (int i = 0; i < 400; ++i) {
    const uint32_t ring = below(6);
    if (driver.header(0).error != 0) begin();
    // Opened anew, a corrupt ring works again.
    if (ring != 0 && driver.header(ring).error != 0) driver.open(ring, below(4), 7);
    switch (below(12)) {
      case 0:
        driver.write_word(RingDriver::ring_address(ring) + 48 + 4 * below(2), one_in(2) ? below(16) : device.time());
        break;
      case 1:  // any bytes in any request
        driver.write_word(RingDriver::ring_address(ring) + contract::Ring::kBytes + 4 * below(128), below(16));
        break;
      case 2:
        driver.submit(0, Request{below(9)}, address(), any_values());
        break;
      default:
        driver.submit(ring, Request::kRun, driver.put_job(any_job(), ring));
    }
    driver.ring_doorbell(below(32));
    ASSERT_TRUE(device.run());
    if (device.busy && one_in(2)) end_stream();
    ASSERT_TRUE(device.pass(one_in(10) ? 200'000 : 1));
    ASSERT_FALSE(device.stopped()) << device.uart;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomTest, testing::Range(1u, 9u));

}  // namespace
}  // namespace npu::firmware_test
