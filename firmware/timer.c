// SPDX-License-Identifier: Apache-2.0
#include "firmware/timer.h"

#include "firmware/log.h"

enum { kRepeatUs = 100 };

uint64_t npu_now;
uint64_t npu_repeat_at = NPU_NEVER;

// What the timer stands at; the registers after reset.
static uint64_t npu_armed = NPU_NEVER;
static uint32_t npu_repetitions;

void npu_timer_restart(uint64_t time) {
  // In between it may fire too early, which only costs a turn of the main loop.
  if (npu_high(time) != npu_high(npu_armed)) npu_write(NPU_REG_TIMER_COMPARE_HI, npu_high(time));
  if (npu_low(time) != npu_low(npu_armed)) npu_write(NPU_REG_TIMER_COMPARE_LO, npu_low(time));
  npu_armed = time;
}

void npu_timer_at_latest(uint64_t time) {
  if (time < npu_armed) npu_timer_restart(time);
}

void npu_raise_completion(void) {
  npu_write(NPU_REG_HOST_IRQ_RAISE, NPU_REG_HOST_IRQ_STATUS_COMPLETION_MASK);
  npu_repeat_at = npu_now + kRepeatUs * npu_device.cycles_per_us;
}

void npu_repeat_completion(void) {
  npu_raise_completion();
  ++npu_repetitions;
  // A driver that does not look for long must not fill the log.
  if ((npu_repetitions & (npu_repetitions - 1)) == 0) {
    npu_log(NPU_LOG_EVENT, "completions not consumed, interrupt raised again (%u in all)", (unsigned)npu_repetitions);
  }
}
