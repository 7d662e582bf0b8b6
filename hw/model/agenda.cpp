#include "hw/model/agenda.h"

#include <algorithm>
#include <limits>

namespace npu::model {

namespace {

constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();

}  // namespace

Agenda::Agenda(const sc_core::sc_module_name& name, const Clock& clock)
    : sc_module(name), clock_(clock), next_(kNever) {
  SC_HAS_PROCESS(Agenda);
  SC_METHOD(tick);
  sensitive << tick_;
  dont_initialize();
}

void Agenda::begin_job() {
  for (Alarm* alarm : alarms_) alarm->due_ = kNever;
  next_ = kNever;
  tick_.cancel();
}

void Agenda::arm(uint64_t cycle) {
  if (cycle >= next_) return;
  next_ = cycle;
  tick_.notify(clock_.timed() ? clock_.until(cycle) : sc_core::SC_ZERO_TIME);
}

void Agenda::tick() {
  const uint64_t now = clock_.now();
  next_ = kNever;
  uint64_t earliest = kNever;
  for (Alarm* alarm : alarms_) {
    if (alarm->due_ > now) {
      earliest = std::min(earliest, alarm->due_);
      continue;
    }
    alarm->due_ = kNever;
    alarm->event_.notify();
  }
  if (earliest != kNever) arm(earliest);
}

Alarm::Alarm(Agenda& agenda) : agenda_(agenda), due_(kNever) { agenda.alarms_.push_back(this); }

void Alarm::set(uint64_t cycle) {
  due_ = std::min(due_, cycle);
  agenda_.arm(due_);
}

void Alarm::cancel() { due_ = kNever; }

}  // namespace npu::model
