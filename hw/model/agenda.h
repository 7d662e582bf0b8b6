// SPDX-License-Identifier: Apache-2.0
// The one source of timed wake-ups inside a Npu. SystemC does not say in which order processes run that wait for the
// same moment, and in practice it depends on what its queue held before; who asks for a bank or a burst first would
// then change from run to run. Here, alarms of one cycle go off in the order in which they were made, always.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <systemc>
#include <vector>

#include "hw/model/clock.h"

namespace npu::model {

class Alarm;

class Agenda : public sc_core::sc_module {
 public:
  Agenda(const sc_core::sc_module_name& name, const Clock& clock);

  // Forgets everything that is due.
  void begin_job();

 private:
  friend class Alarm;
  // Moments that can be pending; more than there are alarms, so that moving one forward is rare.
  static constexpr size_t kMostPending = 40;
  static_assert(kMostPending <= 64);  // bits of armed_
  // Later moments are approached in steps: what is cancelled stays in the kernel's queue until its time comes.
  static constexpr uint64_t kFarCycles = 4096;

  void tick();
  void arm(uint64_t cycle);

  const Clock& clock_;
  std::vector<Alarm*> alarms_;
  uint64_t armed_ = 0;  // a bit an alarm that is due some time
  // Cycles at which tick() will run, the next one last, each with an event of its own: setting an event to an earlier
  // time would leave the later one behind in the kernel's queue, and many of them slow it down.
  std::vector<uint64_t> pending_;
  std::array<sc_core::sc_event, kMostPending> events_;
};

class Alarm {
 public:
  // Notifies event(); with `call`, calls that instead, which costs the simulation less.
  explicit Alarm(Agenda& agenda, std::function<void()> call = {});
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;

  // Goes off at the beginning of a cycle, in this moment's next delta cycle when that has passed, unless an earlier
  // cycle is set already.
  void set(uint64_t cycle);
  // Goes off in the next delta cycle.
  void set_now() { set(0); }
  void cancel();
  [[nodiscard]] const sc_core::sc_event& event() const { return event_; }

 private:
  friend class Agenda;
  Agenda& agenda_;
  std::function<void()> call_;
  sc_core::sc_event event_;
  uint64_t bit_;  // of armed_
  uint64_t due_;  // what it is set to, while it is armed
};

}  // namespace npu::model
