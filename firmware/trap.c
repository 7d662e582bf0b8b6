// SPDX-License-Identifier: Apache-2.0
#include "firmware/trap.h"

#include "firmware/log.h"
#include "firmware/uart.h"

void npu_trap(uint32_t cause, uint32_t pc, uint32_t value, uint32_t sp) {
  static const char text[] = "trap: cause %u, pc %08x, value %08x, sp %08x";
  npu_uart_print(text, (unsigned)cause, (unsigned)pc, (unsigned)value, (unsigned)sp);
  npu_uart_print("\n");
  npu_log(NPU_LOG_ERROR, text, (unsigned)cause, (unsigned)pc, (unsigned)value, (unsigned)sp);
}
