// SPDX-License-Identifier: Apache-2.0
// Pretended firmware for a MockHal: boots, serves the rings, and completes each run at once unless a test says
// otherwise. It does no work and checks nothing but that requests are there.
//
//   MockFirmware firmware(mock);               // before Device::open
//   firmware.on_run = [&](const MockFirmware::Run& run) { firmware.fail(run, ErrorCode::kFaultBus); };
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "driver/runtime/mock_hal.h"
#include "hw/contract/gen/commands.h"

namespace npu::runtime {

class MockFirmware {
 public:
  struct Run {
    uint32_t ring = 0;
    contract::RingRequest request;
    contract::Job job;
  };
  struct Ring {
    uint64_t address = 0;
    uint32_t priority = 0, owner = 0;
  };

  // Hooks itself into the mock, which must outlive it or its use.
  explicit MockFirmware(MockHal& hal);

  // An image that the driver takes: a header and so many bytes of code.
  [[nodiscard]] static std::vector<uint8_t> image(uint32_t code_bytes = 64);

  // What happens to a run request when it is taken.
  std::function<void(const Run&)> on_run = [this](const Run& run) { complete(run); };
  // What happens to a run in flight whose cancelling is asked for.
  std::function<void(const Run&)> on_cancel = [this](const Run& run) { fail(run, contract::ErrorCode::kJobCancelled); };
  // Completes a run well, or as the completion says (its id is filled in).
  void complete(const Run& run, contract::RingCompletion completion = {});
  void fail(const Run& run, contract::ErrorCode code);
  // Completes it during a later wait; one run a wait.
  void complete_later(const Run& run) { later_.push_back(run); }

  // Other scripts; change them at any time.
  contract::FirmwareState boots_as = contract::FirmwareState::kReady;
  uint32_t self_test = 0;  // detail of a failed boot
  bool answers = true;     // ring 0
  bool interrupts = true;  // raises them
  uint64_t cycles_per_wait = 1000;
  uint32_t scrub_corrects = 0;                                 // bits, says a scrub
  std::function<void(const contract::RingRequest&)> on_admin;  // sees every request of ring 0, before it is served

  // What a real one does by accident or on its own.
  void stop(contract::CpuStop reason, uint32_t pc, uint32_t cause, uint32_t value);
  void log(const std::string& text);
  void phase(contract::Phase phase, uint32_t argument);
  void set_error(uint32_t ring, contract::ErrorCode code);
  // Overwrites a word of a ring's header.
  void poke(uint32_t ring, uint32_t offset, uint32_t value);
  [[nodiscard]] uint32_t peek(uint32_t ring, uint32_t offset);

  [[nodiscard]] const std::map<uint32_t, Ring>& rings() const { return rings_; }
  [[nodiscard]] uint64_t time() const { return time_; }
  [[nodiscard]] int boots() const { return boots_; }

 private:
  void mailbox_write(uint32_t offset, uint32_t value);
  void boot();
  void serve(uint32_t ring);
  void serve_admin(const contract::RingRequest& request);
  [[nodiscard]] contract::ErrorCode table_fault() const;
  void serve_cancel(uint32_t ring, uint32_t id);
  void write_completion(uint32_t ring, const contract::RingCompletion& completion);
  void raise(uint32_t bits);
  void advance(uint64_t cycles);
  [[nodiscard]] contract::Ring header(uint32_t ring);
  [[nodiscard]] uint8_t* memory(uint64_t address, uint64_t bytes);

  MockHal& hal_;
  std::map<uint32_t, Ring> rings_;  // by number
  std::deque<Run> pending_;         // taken, not completed
  std::deque<Run> later_;
  uint64_t time_ = 0;
  bool running_ = false;
  int boots_ = 0;
};

}  // namespace npu::runtime
