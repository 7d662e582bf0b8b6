// SPDX-License-Identifier: Apache-2.0
#include "hw/timing/port_watch.h"

#include <utility>

namespace npu::timing {
namespace {

// A digit a port, port 0 last.
std::string digits(Ports ports) {
  std::string text;
  for (uint32_t port = kMostPorts; port-- > 0;) text += (ports >> port & 1) != 0 ? '1' : '0';
  return text;
}

}  // namespace

PortWatch::PortWatch(std::unique_ptr<PortSchedule> schedule) : schedule_(std::move(schedule)) {}

void PortWatch::see(Ports asked, Ports granted, bool done) {
  ++cycles_;
  if (!difference_.empty()) return;
  const Ports expected = schedule_->asking();
  if (expected != asked) {
    difference_ = "in cycle " + std::to_string(cycles_) + " the RTL asks on ports " + digits(asked) +
                  ", the schedule on " + digits(expected);
    return;
  }
  schedule_->step(granted);
  if (schedule_->done() == done) return;
  difference_ = "behind cycle " + std::to_string(cycles_) +
                (done ? " the RTL is done, the schedule is not" : " the schedule is done, the RTL is not");
}

}  // namespace npu::timing
