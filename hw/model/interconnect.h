// SPDX-License-Identifier: Apache-2.0
// Plays the crossbar (hw/timing/crossbar.h) as simulated time passes: a cycle is played when it is over, so that
// whatever happens in one cycle, in whichever order, is in time for it.
#pragma once

#include "hw/model/agenda.h"
#include "hw/model/clock.h"
#include "hw/timing/crossbar.h"

namespace npu::model {

class Interconnect {
 public:
  Interconnect(const contract::Capabilities& caps, const Clock& clock, Agenda& agenda);

  [[nodiscard]] timing::Crossbar& crossbar() { return crossbar_; }
  void begin_job() { crossbar_.begin_job(); }
  // Plays what is over.
  void catch_up() { crossbar_.play(clock_.now()); }
  // From this cycle on; see Crossbar::start().
  void start(timing::Crossbar::Lane& lane, timing::PortSchedule& schedule, uint64_t at_least);
  // Nothing happens where the lane is not at work.
  void stop(timing::Crossbar::Lane& lane) { crossbar_.stop(lane); }

 private:
  void tick();
  void wake(uint64_t cycle);

  const Clock& clock_;
  timing::Crossbar crossbar_;
  Alarm alarm_;
};

}  // namespace npu::model
