// SPDX-License-Identifier: Apache-2.0
// What is left to do when the firmware itself has gone wrong.
#pragma once

#include <stdint.h>

// Reports a trap on UART and log. Called by trap.S, which stops the CPU afterwards: mcause, mepc, mtval, and the stack
// pointer of the code that trapped.
void npu_trap(uint32_t cause, uint32_t pc, uint32_t value, uint32_t sp);
