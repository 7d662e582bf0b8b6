// SPDX-License-Identifier: Apache-2.0
// What ports ask for beside the schedule of it, cycle by cycle, up to the first difference.
#pragma once

#include <memory>
#include <string>

#include "hw/timing/ports.h"

namespace npu::timing {

class PortWatch {
 public:
  // Of one tile, from the cycle behind the one that takes its command.
  explicit PortWatch(std::unique_ptr<PortSchedule> schedule);

  // One cycle; `done`: the tile ended with it.
  void see(Ports asked, Ports granted, bool done);

  [[nodiscard]] uint64_t cycles() const { return cycles_; }
  [[nodiscard]] const std::string& difference() const { return difference_; }  // the first, in words; empty: none

 private:
  std::unique_ptr<PortSchedule> schedule_;
  uint64_t cycles_ = 0;
  std::string difference_;
};

}  // namespace npu::timing
