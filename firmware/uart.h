// SPDX-License-Identifier: Apache-2.0
// Text to the UART, for what happens before there is a log and in the trap handler.
#pragma once

void npu_uart_put(const char *text);
// At most 96 characters.
void npu_uart_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
