// SPDX-License-Identifier: Apache-2.0
#include "hw/model/interconnect.h"

namespace npu::model {

Interconnect::Interconnect(const contract::Capabilities& caps, const Clock& clock, Agenda& agenda)
    : clock_(clock), crossbar_(caps), alarm_(agenda, [this] { tick(); }) {}

void Interconnect::start(timing::Crossbar::Lane& lane, timing::PortSchedule& schedule, uint64_t at_least) {
  catch_up();
  crossbar_.start(lane, schedule, at_least);
  wake();
}

void Interconnect::tick() {
  catch_up();
  crossbar_.tell(clock_.now());
  wake();
}

void Interconnect::wake() {
  const uint64_t next = crossbar_.next_end();
  if (next != timing::Crossbar::kNever) alarm_.set(next);
}

}  // namespace npu::model
