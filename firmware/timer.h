// SPDX-License-Identifier: Apache-2.0
// Device time, the machine timer, the watchdog and the repetition of interrupts that the host has not answered.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define NPU_NEVER UINT64_MAX

// Device time at the last npu_time_update(): at least once per turn of the main loop.
extern uint64_t npu_now;
uint64_t npu_time_update(void);

// Makes the timer fire at `time` or before; a timer that fires too early costs less than setting it again and again.
void npu_timer_at_latest(uint64_t time);
// The timer has fired: it must be set again. Takes the next time, or NPU_NEVER.
void npu_timer_restart(uint64_t time);

void npu_watchdog_kick(void);

// Tells the host about completions, and that they are to be told again later unless the driver consumes them.
void npu_raise_completion(void);
// When they are to be told again, or NPU_NEVER.
extern uint64_t npu_repeat_at;
// Tells them again. Counted in the log.
void npu_repeat_completion(void);
