// SPDX-License-Identifier: Apache-2.0
// The random walk with what only a device has: a driver that allocates, jobs in flight, resets, power, and writes that
// do not come to their end.
#pragma once

#include "driver/runtime/snapshot.h"
#include "hw/contract/gen/commands.h"
#include "tests/system/state/device_subject.h"
#include "tests/system/state/room.h"
#include "tests/system/state/walk.h"

namespace npu::test {

class DeviceWalk : public Walk {
 public:
  DeviceWalk(DeviceSubject& subject, const std::vector<Recipe>& recipes, uint32_t seed);

  // That stopped a job.
  [[nodiscard]] int64_t brown_outs() const { return brown_outs_; }
  // Variables that were allocated in DRAM.
  [[nodiscard]] int64_t spilled() const { return room_.spilled(); }

 protected:
  std::set<contract::ErrorCode> refusal(const Open& open, const std::string& identity) override;
  std::set<contract::ErrorCode> refusal_to_run(const Open& open) override;
  bool reachable(const Open& open) override { return !open.rules.lost && power_ == contract::PsramPower::kOn; }
  contract::ErrorCode declare(int context, Open& open, size_t recipe) override;
  void verify_places(int context, const std::map<std::string, Listed>& listed) override;
  void load_program(int context, Open& open, int program, size_t recipe) override;
  void settle(int context, Open& open, const Outcome& outcome) override;

 private:
  struct Saved {
    std::map<std::string, Cell> cells;
    runtime::Snapshot snapshot;
  };

  // Without what the contexts have lost since.
  Room& room();
  void load();
  void unload();
  // Starts a job, or sees it refused; does `meanwhile` and waits for it. Nothing happens where there is no program.
  void with_job(const std::function<void(int context, const Recipe&, runtime::Job&)>& meanwhile,
                const std::set<contract::ErrorCode>& may);
  // While a job is in flight, nothing may touch the variables of its context.
  void touch_in_flight();
  void cancel();
  void brown_out();
  void soft_reset();
  void cold_reset();
  void save();
  void restore();
  void scrub();
  void switch_power(contract::PsramPower state);
  void acknowledge();

  DeviceSubject& device_;
  Room room_;
  int64_t brown_outs_ = 0;
  contract::PsramPower power_ = contract::PsramPower::kOn;
  std::vector<Saved> saved_;
};

}  // namespace npu::test
