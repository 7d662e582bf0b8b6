// SPDX-License-Identifier: Apache-2.0
// The simulated device without control CPU behind the runtime's hardware interface, with streams written by hand.
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <numeric>
#include <thread>
#include <vector>

#include "hw/contract/gen/commands.h"
#include "hw/contract/gen/registers.h"
#include "sim/platform/platform.h"
#include "tests/unit/errors/code_of.h"

namespace npu::platform::testing {
namespace {

namespace reg = contract::reg;
using contract::ErrorCode;
using std::chrono::milliseconds;
using std::chrono::seconds;
using test::code_of;

constexpr uint32_t kDone = reg::kStatusDoneMask | reg::kStatusPoweredMask;
constexpr uint32_t kRunning = reg::kStatusRunningMask | reg::kStatusPoweredMask;
constexpr uint64_t kStream = 0x100000;
constexpr uint32_t kWorkspaceBytes = 0x80000;

class Fixture : public ::testing::Test {
 protected:
  void open(PlatformOptions options = {}) {
    options.preset = presets::load_preset("edge");
    options.control_cpu = false;
    caps_ = options.preset.caps;
    device_ = open_tlm_device(options);
    const auto workspace = static_cast<uint32_t>(contract::Region::kWorkspace);
    device_->write_register(reg::region_limit(workspace), kWorkspaceBytes);
    device_->write_register(reg::region_flags(workspace), 3 | static_cast<uint32_t>(contract::Space::kDram) << 4);
    device_->write_register(reg::kIrqEnable, 1);
    device_->write_register(reg::kCommandBaseLo, kStream);
  }

  // begin, copies of DRAM into the scratchpad and back, end; `rounds` times 64 KiB.
  std::vector<uint32_t> stream(uint32_t rounds) const {
    std::vector<uint32_t> words;
    contract::BeginCommand begin;
    begin.header.queue = contract::Queue::kSequencer;
    begin.major = contract::kContractMajor;
    begin.minor = contract::kContractMinor;
    begin.caps_hash = contract::caps_hash(caps_);
    begin.command_count = 2 + 2 * rounds;
    begin.encode(words);
    for (uint32_t i = 0; i < rounds; ++i) {
      contract::DmaCommand dma;
      dma.count.fill(1);
      dma.run_bytes = 0x10000;
      dma.src = {0, contract::Region::kWorkspace, 0};
      dma.dst = {0, contract::Region::kScratchpad, 0};
      dma.encode(words);
      std::swap(dma.src, dma.dst);
      dma.dst.offset = 0x10000;
      dma.encode(words);
    }
    contract::EndCommand end;
    end.header.queue = contract::Queue::kSequencer;
    end.encode(words);
    return words;
  }
  void start(const std::vector<uint32_t>& words) {
    std::vector<uint8_t> bytes(words.size() * 4);
    std::memcpy(bytes.data(), words.data(), bytes.size());
    device_->write_memory(kStream, bytes);
    device_->write_register(reg::kIrqStatus, 1);
    device_->write_register(reg::kCommandWords, static_cast<uint32_t>(words.size()));
    device_->write_register(reg::kControl, reg::kControlStartMask);
  }
  uint32_t job_cycles() { return device_->read_register(reg::kJobCyclesLo); }

  contract::Capabilities caps_;
  std::unique_ptr<runtime::Hal> device_;
};

using TlmDeviceTest = Fixture;

TEST_F(TlmDeviceTest, RunsAJob) {
  open();
  std::vector<uint8_t> data(0x10000);
  std::iota(data.begin(), data.end(), uint8_t{3});
  device_->write_memory(0, data);
  start(stream(1));
  ASSERT_TRUE(device_->wait_interrupt(seconds(10)));
  EXPECT_EQ(device_->read_register(reg::kStatus), kDone);
  std::vector<uint8_t> result(0x10000);
  device_->read_memory(0x10000, result);
  EXPECT_EQ(result, data);
  // 64 KiB there and back at no more than 12.8 bytes a nanosecond.
  EXPECT_GT(job_cycles(), 2 * 0x10000 / 12.8);
  EXPECT_LT(job_cycles(), 2 * 0x10000 / 12.8 * 1.3);
  // An interrupt that is up already.
  EXPECT_TRUE(device_->wait_interrupt(seconds(0)));
}

TEST_F(TlmDeviceTest, EqualCyclesAgainAndAfterReset) {
  open();
  start(stream(3));
  ASSERT_TRUE(device_->wait_interrupt(seconds(10)));
  const uint32_t cycles = job_cycles();
  for (int i = 0; i < 20; ++i) {
    if (i == 10) device_->write_register(reg::kControl, reg::kControlColdResetMask);
    start(stream(3));
    ASSERT_TRUE(device_->wait_interrupt(seconds(10)));
    ASSERT_EQ(job_cycles(), cycles) << i;
  }
}

TEST_F(TlmDeviceTest, TimeoutLeavesTheDevicePaused) {
  open();
  start(stream(400));
  EXPECT_FALSE(device_->wait_interrupt(milliseconds(0)));
  EXPECT_EQ(device_->read_register(reg::kStatus), kRunning);
  EXPECT_FALSE(device_->wait_interrupt(std::chrono::microseconds(200)));
  ASSERT_TRUE(device_->wait_interrupt(seconds(60)));
  const uint32_t cycles = job_cycles();
  start(stream(400));
  ASSERT_TRUE(device_->wait_interrupt(seconds(60)));
  EXPECT_EQ(job_cycles(), cycles);
}

// A host that only looks gets on, by the same steps in every run, and what it looks at stays as it is.
TEST_F(TlmDeviceTest, LookingLetsTimeGoOn) {
  open();
  const auto looks = [&] {
    start(stream(20));
    int count = 1;
    while (!device_->wait_interrupt(milliseconds(0)) && count < 1000) ++count;
    return count;
  };
  start(stream(20));
  ASSERT_TRUE(device_->wait_interrupt(seconds(60)));
  const uint32_t cycles = job_cycles();
  const int first = looks();
  EXPECT_EQ(job_cycles(), cycles);
  EXPECT_GE(first, static_cast<int>(cycles / 10'000));
  EXPECT_LE(first, static_cast<int>(cycles / 10'000) + 2);
  EXPECT_EQ(looks(), first);
  // Nothing to look for: comes back without time.
  device_->write_register(reg::kIrqStatus, 1);
  EXPECT_FALSE(device_->wait_interrupt(milliseconds(0)));
}

TEST_F(TlmDeviceTest, ResetWhileAJobRuns) {
  open();
  start(stream(400));
  EXPECT_FALSE(device_->wait_interrupt(milliseconds(0)));
  device_->write_register(reg::kControl, reg::kControlSoftResetMask);
  EXPECT_EQ(device_->read_register(reg::kStatus), uint32_t{reg::kStatusPoweredMask});
  start(stream(1));
  ASSERT_TRUE(device_->wait_interrupt(seconds(10)));
  EXPECT_EQ(device_->read_register(reg::kStatus), kDone);
}

TEST_F(TlmDeviceTest, WakeEndsAWait) {
  open();
  start(stream(4000));
  device_->wake();
  EXPECT_FALSE(device_->wait_interrupt(seconds(100)));  // the one that comes after
  EXPECT_EQ(device_->read_register(reg::kStatus), kRunning);
  std::thread waker([&] {
    std::this_thread::sleep_for(milliseconds(20));
    device_->wake();
  });
  EXPECT_FALSE(device_->wait_interrupt(seconds(100)));  // the one that is going on
  waker.join();
  EXPECT_EQ(device_->read_register(reg::kStatus), kRunning);
  EXPECT_GT(device_->read_register(reg::counter_lo(0)), 0u);
  ASSERT_TRUE(device_->wait_interrupt(seconds(100)));  // and no other
}

TEST_F(TlmDeviceTest, HowTheHostWaitsLeavesNoTrace) {
  open();
  const std::vector<uint32_t> words = stream(200);
  start(words);
  ASSERT_TRUE(device_->wait_interrupt(seconds(60)));
  const uint32_t cycles = job_cycles();
  std::vector<uint32_t> counters(contract::reg::kCounterCount * 2), again(counters.size());
  device_->read_registers(reg::kCounterLo, counters);
  start(words);
  for (int i = 0; !device_->wait_interrupt(std::chrono::microseconds(30)); ++i) {
    if (i % 2 == 0) device_->wake();
  }
  EXPECT_EQ(job_cycles(), cycles);
  device_->read_registers(reg::kCounterLo, again);
  EXPECT_EQ(again, counters);
}

TEST_F(TlmDeviceTest, NothingToWaitFor) {
  open();
  EXPECT_FALSE(device_->wait_interrupt(seconds(100)));  // no job: comes back at once
  device_->write_register(reg::kIrqEnable, 0);
  start(stream(1));
  EXPECT_FALSE(device_->wait_interrupt(seconds(100)));  // the interrupt is masked: comes back when the job has ended
  EXPECT_EQ(device_->read_register(reg::kStatus), kDone);
}

TEST_F(TlmDeviceTest, FunctionalModeTakesNoCycles) {
  PlatformOptions options;
  options.mode = model::Mode::kFunctional;
  open(options);
  start(stream(40));
  ASSERT_TRUE(device_->wait_interrupt(seconds(10)));
  EXPECT_EQ(device_->read_register(reg::kStatus), kDone);
  EXPECT_EQ(job_cycles(), 0u);
}

TEST_F(TlmDeviceTest, JitterChangesCyclesAndNoBits) {
  PlatformOptions options;
  options.jitter_seed = 5;
  options.jitter_max_cycles = 300;
  open(options);
  std::vector<uint8_t> data(0x10000, 9), result(0x10000);
  device_->write_memory(0, data);
  start(stream(1));
  ASSERT_TRUE(device_->wait_interrupt(seconds(10)));
  EXPECT_GT(job_cycles(), 2 * 0x10000 / 12.8 * 1.5);
  device_->read_memory(0x10000, result);
  EXPECT_EQ(result, data);
}

TEST_F(TlmDeviceTest, AddressesOutsideAreErrors) {
  open();
  const uint64_t dram_bytes = uint64_t{caps_.dram_mib} << 20;
  std::vector<uint8_t> bytes(16);
  EXPECT_EQ(code_of([&] { device_->read_memory(dram_bytes - 15, bytes); }), ErrorCode::kFaultBus);
  EXPECT_EQ(code_of([&] { device_->write_memory(~uint64_t{0}, bytes); }), ErrorCode::kFaultBus);
  EXPECT_EQ(code_of([&] { device_->fill_memory(0, ~uint64_t{0}, 1); }), ErrorCode::kFaultBus);
  EXPECT_EQ(code_of([&] { device_->read_memory(dram_bytes - 16, bytes); }), ErrorCode::kOk);
  EXPECT_EQ(code_of([&] { device_->read_window(runtime::Window::kPersistent, caps_.psram_bytes - 15, bytes); }),
            ErrorCode::kFaultBus);
  EXPECT_EQ(code_of([&] { device_->write_window(runtime::Window::kPersistent, caps_.psram_bytes - 16, bytes); }),
            ErrorCode::kOk);
  EXPECT_EQ(code_of([&] { static_cast<void>(device_->read_register(0x1c)); }), ErrorCode::kFaultBus);
  EXPECT_EQ(code_of([&] { device_->write_register(0x1ffe, 0); }), ErrorCode::kFaultBus);
  std::vector<uint32_t> values(6);
  EXPECT_EQ(code_of([&] { device_->read_registers(reg::kCounterLo, values); }), ErrorCode::kOk);
  EXPECT_EQ(code_of([&] { device_->read_registers(reg::kFaultCycleHi, values); }), ErrorCode::kOk);
  EXPECT_EQ(code_of([&] { device_->read_registers(reg::kVarWord3, values); }), ErrorCode::kFaultBus);
}

TEST_F(TlmDeviceTest, AWriteToAReadOnlyRegisterIsAnErrorThatNamesIt) {
  open();
  const auto message = [&](uint32_t offset) -> std::string {
    const uint32_t before = device_->read_register(offset);
    try {
      device_->write_register(offset, ~before);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kFaultBus);
      EXPECT_EQ(device_->read_register(offset), before);
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message(reg::kStatus), "register 'status' at offset 0x10 is read-only: nothing was written");
  EXPECT_EQ(message(reg::kId), "register 'id' at offset 0x0 is read-only: nothing was written");
  EXPECT_EQ(message(reg::counter_lo(3)), "register 'counter_lo' at offset 0x818 is read-only: nothing was written");
  const contract::CapabilityInfo& capability = contract::kCapabilities.front();
  EXPECT_NE(message(capability.register_offset).find("'" + std::string(capability.name) + "'"), std::string::npos);
  EXPECT_EQ(message(reg::kCommandWords), "");
}

TEST_F(TlmDeviceTest, MemoryAndPersistentKeepWhatIsWritten) {
  open();
  std::vector<uint8_t> bytes{1, 2, 3, 4}, back(4);
  device_->write_window(runtime::Window::kPersistent, 0x900, bytes);
  device_->read_window(runtime::Window::kPersistent, 0x900, back);
  EXPECT_EQ(back, bytes);
  device_->fill_memory(0x5000, 3, 0xee);
  device_->read_memory(0x5000, back);
  EXPECT_EQ(back, (std::vector<uint8_t>{0xee, 0xee, 0xee, 0}));
}

TEST_F(TlmDeviceTest, AProcessHasOneDevice) {
  open();
  EXPECT_THROW(open(), Error);
  device_.reset();
  try {
    open();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kWrongOrder);
  }
}

TEST_F(TlmDeviceTest, CallsMayComeFromDifferentThreads) {
  open();
  for (int i = 0; i < 5; ++i) {
    std::thread([&] {
      start(stream(1));
      EXPECT_TRUE(device_->wait_interrupt(seconds(10)));
    }).join();
  }
}

TEST_F(TlmDeviceTest, CanBeClosedUnusedOrBusy) {
  open();
  start(stream(400));
  EXPECT_FALSE(device_->wait_interrupt(milliseconds(0)));
  device_.reset();
}

}  // namespace
}  // namespace npu::platform::testing
