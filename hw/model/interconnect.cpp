// SPDX-License-Identifier: Apache-2.0
#include "hw/model/interconnect.h"

namespace npu::model {

Interconnect::Interconnect(const contract::Capabilities& caps, const Clock& clock, Agenda& agenda)
    : clock_(clock), crossbar_(caps), alarm_(agenda, [this] { tick(); }) {}

void Interconnect::start(timing::Crossbar::Lane& lane, timing::PortSchedule& schedule, uint64_t at_least) {
  catch_up();
  crossbar_.start(lane, schedule, at_least);
  wake(crossbar_.next_end(lane));  // it is awake in time for the others
}

void Interconnect::tick() {
  const uint64_t now = clock_.now();
  crossbar_.play(now);
  crossbar_.tell(now);
  wake(crossbar_.next_end());
}

void Interconnect::wake(uint64_t cycle) {
  if (cycle != timing::Crossbar::kNever) alarm_.set(cycle);
}

}  // namespace npu::model
