// SPDX-License-Identifier: Apache-2.0
// What the units of one NPU share: clock, job, tokens, counters, memories. Plain objects; the modules around them hold
// the processes.
#pragma once

#include <memory>
#include <utility>

#include "hw/model/address_map.h"
#include "hw/model/agenda.h"
#include "hw/model/brownout.h"
#include "hw/model/busy.h"
#include "hw/model/clock.h"
#include "hw/model/config.h"
#include "hw/model/counters.h"
#include "hw/model/event_recorder.h"
#include "hw/model/hang.h"
#include "hw/model/interconnect.h"
#include "hw/model/jitter.h"
#include "hw/model/job.h"
#include "hw/model/memory_port.h"
#include "hw/model/persistent_sram.h"
#include "hw/model/power.h"
#include "hw/model/scoreboard.h"
#include "hw/model/scratchpad.h"
#include "hw/model/table_port.h"

namespace npu::model {

struct Machine {
  Machine(const NpuConfig& npu_config, MemoryPort::Socket& socket,
          std::unique_ptr<engine::PersistentBackEnd> persistent_back_end)
      : config(npu_config),
        clock(config.caps.clock_mhz, config.mode),
        agenda("agenda", clock),
        jitter(config.jitter),
        job(clock),
        power(clock),
        persistent_busy(clock),
        scratchpad(config.caps, config.poison),
        persistent(config.caps, std::move(persistent_back_end)),
        interconnect(config.caps, clock, agenda),
        table_port(interconnect, clock, job),
        address_map(config.caps, persistent),
        memory("memory_port", socket, config.caps, clock, agenda, jitter),
        events(memory) {}

  const NpuConfig config;
  Clock clock;
  Agenda agenda;
  JitterSource jitter;
  Job job;
  Power power;
  Busy persistent_busy;
  Hang hang;
  Brownout brownout;
  Scoreboard scoreboard;
  Counters counters;
  Scratchpad scratchpad;
  PersistentSram persistent;
  Interconnect interconnect;
  TablePort table_port;
  AddressMap address_map;
  MemoryPort memory;
  EventRecorder events;
  sc_core::sc_event progress;  // a unit has taken, completed or given up a command
};

}  // namespace npu::model
