// SPDX-License-Identifier: Apache-2.0
// An event of the simulation that any thread may raise: the kernel looks for it after every delta cycle.
#pragma once

#include <systemc>

namespace npu::platform {

class Alert : public sc_core::sc_prim_channel {
 public:
  explicit Alert(const char* name) : sc_prim_channel(name) {}

  // Any thread, any time between construction and destruction. Soon after, the event is notified; if the simulation
  // stands still, then when it goes on.
  void raise() { async_request_update(); }
  [[nodiscard]] const sc_core::sc_event& event() const { return event_; }

 private:
  void update() override { event_.notify(sc_core::SC_ZERO_TIME); }

  sc_core::sc_event event_;
};

}  // namespace npu::platform
