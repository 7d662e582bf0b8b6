// SPDX-License-Identifier: Apache-2.0
// A program for the control CPU: answers every doorbell with an interrupt of the host, and counts. Doorbell 1 also
// reads device memory, doorbell 2 loops for ever, doorbell 3 executes an illegal instruction.
#include <stdint.h>

#include "hw/contract/gen/npu_contract.h"

#define REGISTER(offset) (*(volatile uint32_t*)(uintptr_t)(NPU_CPU_REGISTERS_BASE + (offset)))
#define DRAM(address) (*(volatile uint32_t*)(uintptr_t)(NPU_CPU_DRAM_BASE + (address)))
#define EXTERNAL_INTERRUPT (1u << 11)

struct work {
  uint32_t bells;  // those of the last time
  uint32_t count;  // times
  uint32_t word;   // of device memory
};
struct work work;

// Lies first, at the reset vector.
__attribute__((naked, section(".text.init.enter"))) void _start(void) { __asm__("lui sp, 0x10004\n\tj npu_main"); }

__attribute__((noinline)) static void npu_handle(struct work* todo) {
  todo->count += 1;
  if (todo->bells & 2u) todo->word = DRAM(0x1000);
  if (todo->bells & 4u) {
    for (;;) __asm__ volatile("");
  }
  if (todo->bells & 8u) __asm__ volatile(".word 0");
  REGISTER(NPU_REG_HOST_IRQ_RAISE) = NPU_REG_HOST_IRQ_STATUS_COMPLETION_MASK;
}

__attribute__((used)) static void npu_main(void) {
  work.count = 0;
  REGISTER(NPU_REG_INTERRUPT_ENABLE) = NPU_REG_INTERRUPT_PENDING_DOORBELL_MASK;
  __asm__ volatile("csrw mie, %0" ::"r"(EXTERNAL_INTERRUPT));  // wakes wfi; traps stay off
  REGISTER(NPU_REG_FIRMWARE_STATE) = NPU_FIRMWARE_STATE_READY;
  for (;;) {
    __asm__ volatile("wfi");
    work.bells = REGISTER(NPU_REG_DOORBELL_PENDING);
    REGISTER(NPU_REG_DOORBELL_PENDING) = work.bells;
    if (work.bells != 0) npu_handle(&work);
  }
}
