// SPDX-License-Identifier: Apache-2.0
// The simulated chip behind the runtime's hardware interface: windows, doorbell, interrupt, waiting.
#include <atomic>
#include <thread>

#include "tests/unit/errors/code_of.h"
#include "tests/unit/platform/chip_fixture.h"

namespace npu::platform::testing {
namespace {

using contract::ErrorCode;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;
using test::code_of;

using ChipDeviceTest = ChipFixture;

TEST_F(ChipDeviceTest, WindowsAndTheirRights) {
  open();
  std::vector<uint8_t> bytes(16, 1), back(16);
  const auto read = [&](Window window, uint32_t offset) {
    return code_of([&] { device_->read_window(window, offset, back); });
  };
  const auto write = [&](Window window, uint32_t offset) {
    return code_of([&] { device_->write_window(window, offset, bytes); });
  };
  const uint32_t table = caps_.var_entries * 16;
  EXPECT_EQ(write(Window::kCode, contract::kCpuCodeBytes - 16), ErrorCode::kOk);
  EXPECT_EQ(write(Window::kCode, contract::kCpuCodeBytes - 15), ErrorCode::kFaultBus);
  EXPECT_EQ(read(Window::kCode, 0), ErrorCode::kFaultBus);
  EXPECT_EQ(read(Window::kData, contract::kCpuDataBytes - 16), ErrorCode::kOk);
  EXPECT_EQ(read(Window::kData, contract::kCpuDataBytes - 15), ErrorCode::kFaultBus);
  EXPECT_EQ(write(Window::kData, 0), ErrorCode::kFaultBus);
  EXPECT_EQ(write(Window::kPersistent, table), ErrorCode::kOk);
  EXPECT_EQ(read(Window::kPersistent, table), ErrorCode::kOk);
  EXPECT_EQ(back, bytes);
  EXPECT_EQ(write(Window::kPersistent, table - 4), ErrorCode::kFaultBus);
  EXPECT_EQ(read(Window::kPersistent, caps_.psram_bytes - 15), ErrorCode::kFaultBus);
  // One window's end is not the beginning of the next.
  EXPECT_EQ(read(Window::kPersistent, contract::kDataWindow - contract::kPsramWindow), ErrorCode::kFaultBus);
  EXPECT_EQ(read(Window::kCode, contract::kDataWindow - contract::kCodeWindow), ErrorCode::kFaultBus);
  boot();
  EXPECT_EQ(write(Window::kCode, 0), ErrorCode::kFaultBus);  // the CPU runs
  device_->write_register(reg::kCpuControl, 0);
  EXPECT_EQ(write(Window::kCode, 0), ErrorCode::kOk);
}

TEST_F(ChipDeviceTest, TheHostSeesMailboxAndIdentityOnly) {
  open();
  EXPECT_EQ(device_->read_register(reg::kId), uint32_t{reg::kIdReset});
  EXPECT_EQ(code_of([&] { device_->write_register(reg::kControl, 1); }), ErrorCode::kFaultBus);
  EXPECT_EQ(code_of([&] { static_cast<void>(device_->read_register(reg::kStatus)); }), ErrorCode::kFaultBus);
  EXPECT_EQ(code_of([&] { static_cast<void>(device_->read_register(reg::kDoorbellPending)); }), ErrorCode::kFaultBus);
  const auto message = [&](uint32_t offset) -> std::string {
    try {
      device_->write_register(offset, 1);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message(reg::kFirmwareState),
            "register 'firmware_state' at offset 0x2010 is read-only: nothing was written");
  EXPECT_EQ(message(reg::kIrqEnable),
            "register 'irq_enable' at offset 0x18 belongs to the control CPU: the host does not reach it");
  EXPECT_EQ(message(0x1c), "the device has no register at offset 28");
  EXPECT_EQ(message(reg::kHostIrqEnable), "");
}

TEST_F(ChipDeviceTest, DoorbellToInterrupt) {
  open();
  boot();
  uint64_t cycles = 0;
  std::chrono::steady_clock::duration best = seconds(1);
  for (uint32_t i = 1; i <= 1000; ++i) {
    const uint64_t before = time();
    const auto start = std::chrono::steady_clock::now();
    ring(0);
    ASSERT_TRUE(answered());
    best = std::min(best, std::chrono::steady_clock::now() - start);
    const uint64_t took = time() - before;
    // In phase with the CPU's clock from the second on, each takes the same time.
    if (i == 2) cycles = took;
    if (i > 2) {
      ASSERT_EQ(took, cycles) << i;
    }
    ASSERT_EQ(data_word(4), i);
  }
  // Some ten instructions and five accesses of five cycles each, on half the clock.
  EXPECT_GT(cycles, 20u);
  EXPECT_LT(cycles, 200u);
  std::cout << cycles << " device cycles, " << std::chrono::duration<double, std::micro>(best).count()
            << " us of the host\n";
}

TEST_F(ChipDeviceTest, TheCpuReadsWhatTheHostWrote) {
  open();
  boot();
  device_->write_memory(0x1000, std::vector<uint8_t>{0x78, 0x56, 0x34, 0x12});
  ring(1);
  ASSERT_TRUE(answered());
  EXPECT_EQ(data_word(8), 0x12345678u);
}

TEST_F(ChipDeviceTest, TimeStandsStillBetweenWaits) {
  open();
  boot();
  const uint64_t before = time();
  std::this_thread::sleep_for(milliseconds(5));
  EXPECT_EQ(time(), before);
  ring(0);
  EXPECT_EQ(time(), before);
  ASSERT_TRUE(answered());
  EXPECT_GT(time(), before);
}

TEST_F(ChipDeviceTest, NothingToWaitFor) {
  open();
  EXPECT_FALSE(device_->wait_interrupt(seconds(100)));  // in reset
  boot();
  EXPECT_FALSE(device_->wait_interrupt(seconds(100)));  // in wfi, nothing is to come
  const uint64_t before = time();
  EXPECT_FALSE(device_->wait_interrupt(seconds(100)));
  EXPECT_EQ(time(), before);
  device_->write_register(reg::kHostIrqEnable, 0);
  ring(0);
  EXPECT_FALSE(device_->wait_interrupt(seconds(100)));  // handled, but the interrupt is masked
  EXPECT_EQ(device_->read_register(reg::kHostIrqStatus), uint32_t{reg::kHostIrqStatusCompletionMask});
  device_->write_register(reg::kHostIrqEnable, 1);
  EXPECT_TRUE(device_->wait_interrupt(seconds(0)));
}

TEST_F(ChipDeviceTest, AnEndlessLoopEndsWithTheWait) {
  open();
  boot();
  ring(2);
  EXPECT_FALSE(device_->wait_interrupt(milliseconds(20)));
  std::thread waker([&] {
    std::this_thread::sleep_for(milliseconds(20));
    device_->wake();
  });
  EXPECT_FALSE(device_->wait_interrupt(seconds(100)));
  waker.join();
  EXPECT_EQ(device_->read_register(reg::kCpuStatus), uint32_t{reg::kCpuStatusRunningMask});
  boot();
  ring(0);
  EXPECT_TRUE(answered());
}

TEST_F(ChipDeviceTest, AStoppedCpuTellsTheHost) {
  open();
  boot();
  ring(3);
  ASSERT_TRUE(device_->wait_interrupt(seconds(60)));
  EXPECT_EQ(device_->read_register(reg::kHostIrqStatus), uint32_t{reg::kHostIrqStatusCpuStoppedMask});
  EXPECT_EQ(device_->read_register(reg::kStopCause), 2u);  // illegal instruction
  boot();
  ring(0);
  EXPECT_TRUE(answered());
}

// Waits of any length, and wakes from another thread at any moment, change no device time.
TEST_F(ChipDeviceTest, HowTheHostWaitsLeavesNoTrace) {
  open();
  const auto times = [&](bool restless) {
    boot();
    // Ten times the answer, from the same phase of the CPU's clock on.
    std::vector<uint64_t> times{time()};
    std::atomic<bool> done{false};
    std::thread waker([&] {
      while (restless && !done) {
        device_->wake();
        std::this_thread::sleep_for(microseconds(200));
      }
    });
    for (uint32_t i = 0; i < 100; ++i) {
      ring(0);
      while (!device_->wait_interrupt(restless ? microseconds(1 + i) : seconds(60))) {
      }
      device_->write_register(reg::kHostIrqStatus, ~0u);
      times.push_back(time() - times.front());
    }
    done = true;
    waker.join();
    return std::vector<uint64_t>(times.begin() + 1, times.end());
  };
  const std::vector<uint64_t> calm = times(false);
  EXPECT_EQ(times(true), calm);
}

TEST_F(ChipDeviceTest, CanBeClosedWhileTheCpuRuns) {
  open();
  boot();
  ring(2);
  EXPECT_FALSE(device_->wait_interrupt(milliseconds(5)));
  device_.reset();
}

TEST_F(ChipDeviceTest, AMissingSimulatorIsAnError) {
  PlatformOptions options;
  options.iss_module = "/nowhere/libnpu_iss.so";
  EXPECT_EQ(code_of([&] { open(options); }), ErrorCode::kCannotRead);
}

}  // namespace
}  // namespace npu::platform::testing
