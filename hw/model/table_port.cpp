// SPDX-License-Identifier: Apache-2.0
#include "hw/model/table_port.h"

#include <algorithm>

namespace npu::model {

TablePort::TablePort(Interconnect& interconnect, const Clock& clock, Job& job)
    : Lane(interconnect.crossbar(), 1), interconnect_(interconnect), clock_(clock), job_(job) {
  job.on_abort([this] {
    begin_job();
    for (sc_core::sc_event& event : through_) event.notify(sc_core::SC_ZERO_TIME);
  });
}

void TablePort::begin_job() {
  interconnect_.stop(*this);
  waiting_.clear();
  ended_ = timing::Crossbar::kNever;
}

void TablePort::operate(uint32_t queue, const timing::TableOperation& operation) {
  if (!clock_.timed()) return;
  waiting_.push_back({queue, operation});
  if (waiting_.size() == 1) start_next();
  const auto waits = [&] {
    return std::any_of(waiting_.begin(), waiting_.end(), [&](const Ticket& t) { return t.queue == queue; });
  };
  while (!job_.aborting() && waits()) sc_core::wait(through_.at(queue));
}

// In this cycle, or in the next one where this one shows the end of the last operation.
void TablePort::start_next() {
  const timing::TableOperation& operation = waiting_.front().operation;
  const uint64_t now = clock_.now();
  ports_ = timing::TablePorts(operation, now == ended_);
  interconnect_.start(*this, ports_, now + timing::table_cycles(operation));
}

timing::MemoryRequest TablePort::next(uint32_t) { return {timing::OnChip::kPersistent, ports_.writes(), 0, 4}; }

void TablePort::ended(uint64_t end) {
  ended_ = end;
  through_.at(waiting_.front().queue).notify(sc_core::SC_ZERO_TIME);
  waiting_.pop_front();
  if (!waiting_.empty()) start_next();
}

uint64_t TablePort::cycles_left() const { return ports_.cycles_left(); }

}  // namespace npu::model
