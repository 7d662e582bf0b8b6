// SPDX-License-Identifier: Apache-2.0
// Work among competitors on the device's crossbar: which of its requests are granted in which cycle.
#pragma once

#include <cstdint>
#include <functional>

#include "hw/contract/gen/capabilities.h"
#include "hw/timing/crossbar.h"
#include "sim/cosim/grants.h"

namespace npu::cosim {

struct Contended {
  Grants grants;        // of the ports, from the first cycle of the schedule on
  uint64_t cycles = 0;  // until the schedule is done
};

// Plays the schedule on a crossbar of this machine. request(port) says what a port asks for, by the number of its bit.
// Up to four others ask for words of both memories, seldom to all the time; who, how often and what follows from the
// seed. A schedule that is done from the beginning takes no cycle.
[[nodiscard]] Contended contend(timing::PortSchedule& schedule,
                                const std::function<timing::MemoryRequest(uint32_t port)>& request,
                                const contract::Capabilities& caps, uint64_t seed);

}  // namespace npu::cosim
