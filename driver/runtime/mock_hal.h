// SPDX-License-Identifier: Apache-2.0
// A device made of a notebook: records all traffic of a driver, answers from plain memory, and compares the traffic, in
// order and in full, with what a test expects. It computes nothing; a test says what a started job does, or lets
// mock_firmware.h answer the driver.
//
//   auto hal = std::make_unique<MockHal>(caps);
//   MockHal& mock = *hal;
//   Device device = Device::open(std::move(hal));
//   mock.expect({MockHal::write(reg::kControl, reg::kControlSoftResetMask)});
//   device.soft_reset();
//   EXPECT_EQ(mock.deviation(), "");
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "driver/runtime/hal.h"
#include "hw/contract/gen/capabilities.h"
#include "hw/contract/gen/commands.h"
#include "hw/contract/gen/errors.h"

namespace npu::runtime {

class MockHal : public Hal {
 public:
  enum class Kind : uint8_t {
    kReadRegister,
    kWriteRegister,
    kReadMemory,
    kWriteMemory,
    kFillMemory,
    kReadPersistent,
    kWritePersistent,
    kWriteCode,
    kReadData,
    kWait,
  };

  // One call of the interface. As an expectation, an empty `value` or `bytes` matches everything; one that is given for
  // a read or a wait is the answer.
  struct Access {
    Kind kind = Kind::kReadRegister;
    uint64_t address = 0;
    uint64_t size = 0;              // bytes moved; 0 for a wait
    std::optional<uint32_t> value;  // register value, fill byte, or result of the wait
    std::optional<std::vector<uint8_t>> bytes;
  };
  [[nodiscard]] static Access read(uint32_t offset, std::optional<uint32_t> value = {});
  [[nodiscard]] static Access write(uint32_t offset, std::optional<uint32_t> value = {});
  [[nodiscard]] static Access read_dram(uint64_t address, uint64_t size,
                                        std::optional<std::vector<uint8_t>> bytes = {});
  [[nodiscard]] static Access write_dram(uint64_t address, std::vector<uint8_t> bytes);
  [[nodiscard]] static Access fill_dram(uint64_t address, uint64_t size, uint8_t value);
  [[nodiscard]] static Access read_psram(uint32_t offset, uint64_t size);
  [[nodiscard]] static Access write_psram(uint32_t offset, std::vector<uint8_t> bytes);
  [[nodiscard]] static Access write_code(uint32_t offset, std::vector<uint8_t> bytes);
  [[nodiscard]] static Access read_data(uint32_t offset, uint64_t size);
  [[nodiscard]] static Access wait(bool up);
  [[nodiscard]] static std::string to_string(const Access& access);

  // Thrown into the caller at the first access that was not expected.
  class Deviation : public std::logic_error {
    using std::logic_error::logic_error;
  };

  // A device with these capabilities that is idle and whose memory is empty. DRAM is taken from the host only where it
  // is written.
  explicit MockHal(const contract::Capabilities& caps);

  // From now on only these accesses are allowed, in this order. Replaces earlier expectations.
  void expect(std::vector<Access> accesses);
  // Allows everything again.
  void expect_anything() { expected_.reset(); }
  // The first access that differed from the expectation, or the first expected one that never came; empty: neither.
  [[nodiscard]] std::string deviation() const;
  [[nodiscard]] const std::vector<Access>& log() const { return log_; }
  void clear_log() { log_.clear(); }

  // What the pretended device does when a job is started; the default ends it well at once.
  std::function<void(MockHal&)> on_start = [](MockHal& mock) { mock.end_job(); };
  // The same for a write of a mailbox register, after it was stored, and for every wait, before the interrupt is
  // looked at. The defaults do nothing.
  std::function<void(MockHal&, uint32_t offset, uint32_t value)> on_mailbox_write;
  std::function<void(MockHal&)> on_wait;
  // A wait in vain sleeps until wake() or its timeout, as on a real device, instead of returning at once.
  bool sleeps = false;
  void end_job();
  void end_job_with_fault(contract::ErrorCode code);

  // Registers and memories as the pretended device sees them, without a trace in the log.
  [[nodiscard]] uint32_t get_register(uint32_t offset) const { return registers_.at(offset / 4); }
  void set_register(uint32_t offset, uint32_t value) { registers_.at(offset / 4) = value; }
  [[nodiscard]] std::vector<uint8_t>& dram(uint64_t end);  // at least `end` bytes long
  [[nodiscard]] std::vector<uint8_t>& persistent() { return persistent_; }
  [[nodiscard]] std::vector<uint8_t>& code() { return code_; }  // as long as it was written
  [[nodiscard]] std::vector<uint8_t>& data() { return data_; }
  // Words (8 bytes) of the persistent SRAM with two wrong bits, by offset: they cannot be read, and only be written
  // whole.
  std::set<uint32_t> wrong_words;
  // As the registers psram_power and psram_scrub do.
  void power_persistent(contract::PsramPower state);
  void scrub();
  [[nodiscard]] bool persistent_is_on() const;
  // Is there such a word in these bytes?
  [[nodiscard]] bool any_wrong(uint64_t offset, uint64_t bytes) const;
  // These bytes are written: words that are so in whole are right again; false when another one would have to be read.
  bool mend_words(uint64_t offset, uint64_t bytes);
  // Times that wake() was called.
  [[nodiscard]] uint32_t wakes() const { return wakes_; }

  [[nodiscard]] uint32_t read_register(uint32_t offset) override;
  void write_register(uint32_t offset, uint32_t value) override;
  void read_memory(uint64_t address, std::span<uint8_t> bytes) override;
  void write_memory(uint64_t address, std::span<const uint8_t> bytes) override;
  void fill_memory(uint64_t address, uint64_t bytes, uint8_t value) override;
  void read_window(Window window, uint32_t offset, std::span<uint8_t> bytes) override;
  void write_window(Window window, uint32_t offset, std::span<const uint8_t> bytes) override;
  [[nodiscard]] bool wait_interrupt(std::chrono::nanoseconds timeout) override;
  void wake() override;

 private:
  [[nodiscard]] bool interrupt() const;
  void sleep(std::chrono::nanoseconds timeout);
  // Logs the access and compares it; returns the expectation for its answer, or null.
  const Access* check(const Access& access);
  void control(uint32_t value);
  void require_persistent(bool readable);
  // The word of the variable table that a var_word register shows, or null for another register.
  uint8_t* table_word(uint32_t offset);

  contract::Capabilities caps_;
  std::vector<uint32_t> registers_;
  std::vector<uint8_t> dram_, persistent_, code_, data_;
  std::vector<Access> log_;
  std::optional<std::vector<Access>> expected_;
  size_t next_ = 0;  // index into expected_
  std::string deviation_;
  std::atomic<uint32_t> wakes_ = 0;
  std::mutex sleep_mutex_;
  std::condition_variable sleep_end_;
  bool woken_ = false;  // guarded by sleep_mutex_
};

}  // namespace npu::runtime
