// SPDX-License-Identifier: Apache-2.0
// Boot, and the main loop. The firmware never takes interrupts: it waits for them with wfi and then looks what is
// pending, so that nothing in it runs beside anything else.
#include "firmware/context.h"
#include "firmware/core.h"
#include "firmware/device.h"
#include "firmware/log.h"
#include "firmware/memory.h"
#include "firmware/phase.h"
#include "firmware/scheduler.h"
#include "firmware/selftest.h"
#include "firmware/timer.h"
#include "firmware/uart.h"

#define NPU_MIP_TIMER 0x80u
#define NPU_MIP_EXTERNAL 0x800u

static uint32_t npu_interrupts(void) {
  uint32_t mip;
  __asm__ volatile("csrr %0, mip" : "=r"(mip));
  return mip & (NPU_MIP_TIMER | NPU_MIP_EXTERNAL);
}

static void npu_wait(void) { __asm__ volatile("wfi" ::: "memory"); }

// Tells the host, too: the mailbox raises an interrupt for it.
static void npu_set_state(enum npu_firmware_state state, enum npu_self_test detail) {
  npu_write(NPU_REG_FIRMWARE_STATE, (uint32_t)state | (uint32_t)detail << NPU_REG_FIRMWARE_STATE_DETAIL_LSB);
}

static void npu_boot(void) {
  npu_set_state(NPU_FIRMWARE_STATE_BOOTING, NPU_SELF_TEST_NONE);
  npu_phase_init();
  npu_phase(NPU_PHASE_BOOT, 0);
  npu_write(NPU_REG_FIRMWARE_VERSION, NPU_CONTRACT_MAJOR << NPU_REG_CONTRACT_VERSION_MAJOR_LSB | NPU_CONTRACT_MINOR);
  npu_write(NPU_REG_FIRMWARE_CHECKSUM, npu_code_checksum());
  npu_contexts_init();
  const enum npu_self_test wrong = npu_self_test();
  if (wrong != NPU_SELF_TEST_NONE) {
    npu_uart_print("firmware: self-test %u failed\n", (unsigned)wrong);
    npu_set_state(NPU_FIRMWARE_STATE_FAILED, wrong);
    for (;;) npu_wait();  // no interrupt is enabled: only reset goes on
  }
  npu_core_reset();
  npu_time_update();
  npu_log(NPU_LOG_EVENT, "firmware %u.%u ready", (unsigned)NPU_CONTRACT_MAJOR, (unsigned)NPU_CONTRACT_MINOR);
  npu_write(NPU_REG_INTERRUPT_ENABLE, NPU_REG_INTERRUPT_PENDING_DOORBELL_MASK | NPU_REG_INTERRUPT_PENDING_CORE_MASK);
  __asm__ volatile("csrw mie, %0" ::"r"(NPU_MIP_TIMER | NPU_MIP_EXTERNAL));
  npu_watchdog_kick();
  npu_set_state(NPU_FIRMWARE_STATE_READY, NPU_SELF_TEST_NONE);
}

static void npu_doorbells(void) {
  uint32_t rung = npu_read(NPU_REG_DOORBELL_PENDING);
  npu_write(NPU_REG_DOORBELL_PENDING, rung);
  rung &= (1u << NPU_RINGS) - 1;
  // Ring 0 first: it opens the others.
  for (struct npu_context *context = npu_contexts; rung != 0; rung >>= 1, ++context) {
    if ((rung & 1) == 0) continue;
    npu_context_doorbell(context);
    if (rung != 1) npu_watchdog_kick();  // others follow
  }
}

static void npu_timer_fired(void) {
  npu_scheduler_check_time();
  if (npu_now < npu_repeat_at) return;
  npu_repeat_at = NPU_NEVER;
  if (npu_contexts_collect()) npu_repeat_completion();
}

static void npu_set_timer(bool fired) {
  uint64_t next = npu_scheduler_next();
  if (npu_repeat_at < next) next = npu_repeat_at;
  if (fired) {
    npu_timer_restart(next);
  } else {
    npu_timer_at_latest(next);
  }
}

static void npu_work(void) {
  npu_contexts_serve();
  npu_schedule();
  // It may have ended a job itself, when it could not start it.
  while (npu_contexts_serve()) {
    npu_watchdog_kick();
    npu_schedule();
  }
}

// Most drivers have taken the completions before they ask for more: at a doorbell it is known, or costs one look, and
// the timer need not look at all rings.
static void npu_look_for_collected(void) {
  if (npu_repeat_at == NPU_NEVER) return;
  if (npu_contexts_collected()) npu_repeat_at = NPU_NEVER;
  while (npu_contexts_serve()) npu_schedule();  // rings that waited for room have it now
}

// One look at everything that can have happened. First what the engines wait for.
static void npu_turn(uint32_t interrupts) {
  npu_phase(NPU_PHASE_INTERRUPT, 0);
  npu_time_update();
  const bool timer = (interrupts & NPU_MIP_TIMER) != 0;
  const uint32_t pending = (interrupts & NPU_MIP_EXTERNAL) != 0 ? npu_read(NPU_REG_INTERRUPT_PENDING) : 0;
  const bool doorbell = (pending & NPU_REG_INTERRUPT_PENDING_DOORBELL_MASK) != 0;
  if ((pending & NPU_REG_INTERRUPT_PENDING_CORE_MASK) != 0) npu_scheduler_core_event(!timer && !doorbell);
  if (doorbell) npu_doorbells();
  if (timer) npu_timer_fired();
  npu_work();
  if (doorbell) npu_look_for_collected();
  npu_set_timer(timer);
  npu_scheduler_prepare();
  npu_watchdog_kick();
}

void npu_main(void);
void npu_main(void) {
  npu_boot();
  for (;;) {
    const uint32_t interrupts = npu_interrupts();
    if (interrupts != 0) {
      npu_turn(interrupts);
    } else {
      npu_phase(NPU_PHASE_IDLE, 0);
      npu_wait();
    }
  }
}
