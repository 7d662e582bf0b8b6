#include "sim/cosim/rtl_engine.h"

#include <fmt/format.h>

namespace npu::cosim {

bool RtlEngine::follow(timing::PortSchedule& schedule, timing::Ports asked, timing::Ports ready, bool done,
                       uint64_t cycle) {
  const timing::Ports expected = schedule.asking();
  if (expected != asked) {
    port_difference_ =
        fmt::format("in cycle {} the RTL asks on ports {:04b}, the schedule on {:04b}", cycle, asked, expected);
    return false;
  }
  schedule.step(asked & ready);
  if (schedule.done() == done) return true;
  port_difference_ = fmt::format("behind cycle {} the {} is done, the {} is not", cycle, done ? "RTL" : "schedule",
                                 done ? "schedule" : "RTL");
  return false;
}

}  // namespace npu::cosim
