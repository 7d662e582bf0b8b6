// SPDX-License-Identifier: Apache-2.0
#include "hw/model/agenda.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "hw/contract/error.h"

namespace npu::model {

namespace {

constexpr uint64_t kNoAlarm = std::numeric_limits<uint64_t>::max();

}  // namespace

Agenda::Agenda(const sc_core::sc_module_name& name, const Clock& clock) : sc_module(name), clock_(clock) {
  SC_HAS_PROCESS(Agenda);
  SC_METHOD(tick);
  for (sc_core::sc_event& event : events_) sensitive << event;
  dont_initialize();
}

void Agenda::begin_job() {
  armed_ = 0;
  pending_.clear();
  for (sc_core::sc_event& event : events_) event.cancel();
}

void Agenda::arm(uint64_t cycle) {
  if (!pending_.empty() && pending_.back() <= cycle) return;  // it is no later than the step
  cycle = std::min(cycle, clock_.now() + kFarCycles);
  // With every event in use the last one moves forward; tick() finds again what it stood for.
  if (pending_.size() == kMostPending) pending_.pop_back();
  sc_core::sc_event& event = events_[pending_.size()];
  pending_.push_back(cycle);
  event.notify(clock_.timed() ? clock_.until(cycle) : sc_core::SC_ZERO_TIME);
}

void Agenda::tick() {
  const uint64_t now = clock_.now();
  while (!pending_.empty() && pending_.back() <= now) pending_.pop_back();
  uint64_t earliest = kNoAlarm;
  // One that goes off may set others: those behind it go off now, too.
  int at = 0;
  for (uint64_t left = armed_; left != 0; left = armed_ & ~uint64_t{0} << at << 1) {
    at = std::countr_zero(left);
    Alarm& alarm = *alarms_[static_cast<size_t>(at)];
    if (alarm.due_ > now) {
      earliest = std::min(earliest, alarm.due_);
      continue;
    }
    armed_ &= ~alarm.bit_;
    if (alarm.call_) {
      alarm.call_();
    } else {
      alarm.event_.notify();
    }
  }
  if (earliest != kNoAlarm) arm(earliest);
}

Alarm::Alarm(Agenda& agenda, std::function<void()> call)
    : agenda_(agenda), call_(std::move(call)), bit_(uint64_t{1} << agenda.alarms_.size()), due_(kNoAlarm) {
  agenda.alarms_.push_back(this);
  NPU_CHECK(agenda.alarms_.size() < Agenda::kMostPending);
}

void Alarm::set(uint64_t cycle) {
  due_ = (agenda_.armed_ & bit_) != 0 ? std::min(due_, cycle) : cycle;
  agenda_.armed_ |= bit_;
  agenda_.arm(due_);
}

void Alarm::cancel() { agenda_.armed_ &= ~bit_; }

}  // namespace npu::model
