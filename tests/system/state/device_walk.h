// The random walk with what only a device has: contexts of a driver that allocates, jobs in flight, resets.
#pragma once

#include "tests/system/state/device_subject.h"
#include "tests/system/state/walk.h"

namespace npu::test {

class DeviceWalk : public Walk {
 public:
  DeviceWalk(DeviceSubject& subject, const std::vector<Recipe>& recipes, uint32_t seed);

 protected:
  void load_program(int context, Open& open, int program, size_t recipe) override;
  void settle(int context, Open& open, const Outcome& outcome) override;

 private:
  void load();
  void unload();
  // While a job is in flight, nothing may touch the variables of its context.
  void touch_in_flight();
  void soft_reset();
  void cold_reset();

  DeviceSubject& device_;
};

}  // namespace npu::test
