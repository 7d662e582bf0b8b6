// SPDX-License-Identifier: Apache-2.0
#include "firmware/uart.h"

#include <stdarg.h>
#include <stdio.h>

#include "firmware/memory.h"

void npu_uart_put(const char *text) {
  for (; *text != 0; ++text) npu_write(NPU_REG_UART, (uint8_t)*text);
}

void npu_uart_print(const char *format, ...) {
  char line[97];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  npu_uart_put(line);
}
