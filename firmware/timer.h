// SPDX-License-Identifier: Apache-2.0
// Device time, the machine timer, the watchdog and the repetition of interrupts that the host has not answered.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "firmware/device.h"
#include "firmware/memory.h"

#define NPU_NEVER UINT64_MAX

// Device time at the last npu_time_update(): at least once per turn of the main loop.
extern uint64_t npu_now;
static inline void npu_time_update(void) {
  const uint32_t low = npu_read(NPU_REG_TIME_LO);  // latches the high half
  npu_now = (uint64_t)npu_read(NPU_REG_TIME_HI) << 32 | low;
}
// The same, within 2^32 cycles of the last time.
static inline void npu_time_advance(void) {
  const uint32_t low = npu_read(NPU_REG_TIME_LO);
  npu_now = (uint64_t)(npu_high(npu_now) + (low < npu_low(npu_now) ? 1 : 0)) << 32 | low;
}

// Makes the timer fire at `time` or before; a timer that fires too early costs less than setting it again and again.
void npu_timer_at_latest(uint64_t time);
// The timer has fired: it must be set again. Takes the next time, or NPU_NEVER.
void npu_timer_restart(uint64_t time);

enum { NPU_WATCHDOG_US = 1000 };
static inline void npu_watchdog_kick(void) { npu_write(NPU_REG_WATCHDOG, NPU_WATCHDOG_US * npu_device.cycles_per_us); }

// Tells the host about completions, and that they are to be told again later unless the driver consumes them.
void npu_raise_completion(void);
// When they are to be told again, or NPU_NEVER.
extern uint64_t npu_repeat_at;
// Tells them again. Counted in the log.
void npu_repeat_completion(void);
