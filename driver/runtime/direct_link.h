// SPDX-License-Identifier: Apache-2.0
// Drives the sequencer of a device without control CPU: a job is a few dozen register writes, and one runs at a
// time.
#pragma once

#include "driver/runtime/link.h"
#include "hw/contract/gen/capabilities.h"

namespace npu::runtime {

class DirectLink final : public Link {
 public:
  DirectLink(Hal& hal, const contract::Capabilities& caps) : hal_(hal), caps_(caps) {}

  void restart(bool cold) override;
  [[nodiscard]] uint32_t open_context(uint16_t owner, uint32_t) override { return owner; }
  void close_context(uint32_t) override {}
  [[nodiscard]] std::unique_ptr<Placement> place(const contract::Job&, const compiler::SizeTable&) override {
    return std::make_unique<Placement>();
  }
  void require_room(uint32_t context) const override;
  void submit(uint32_t context, Placement& placement, const contract::Job& job, JobListener& listener) override;
  void cancel(JobListener& listener) override;
  [[nodiscard]] bool stop(JobListener& listener) override { return running_ != &listener; }
  void abandon(JobListener& listener) override {
    if (running_ == &listener) running_ = nullptr;
  }
  [[nodiscard]] std::chrono::nanoseconds slice() const override { return std::chrono::milliseconds(100); }
  void look(Wakeup wakeup) override;
  [[nodiscard]] uint64_t time() override { return 0; }
  void set_power(contract::PowerState state) override;
  void set_persistent_power(contract::PsramPower state) override;
  [[nodiscard]] Scrubbed scrub() override;
  void acknowledge_loss() override;
  [[nodiscard]] std::string take_log() override { return {}; }

  void write_entries(std::span<const Write> writes) override;
  [[nodiscard]] std::vector<contract::VariableEntry> read_entries(std::span<const uint32_t> indices) override;

 private:
  void write_wide(uint32_t offset_low, uint32_t offset_high, uint64_t value);
  void write_regions(const contract::Job& job);
  [[nodiscard]] std::vector<contract::VariableEntry> read_once(std::span<const uint32_t> indices);
  [[nodiscard]] JobEnd read_end();
  [[nodiscard]] JobEnd read_fault();
  void finish(JobEnd end);

  Hal& hal_;
  const contract::Capabilities caps_;
  JobListener* running_ = nullptr;
  bool asleep_ = false;
};

}  // namespace npu::runtime
