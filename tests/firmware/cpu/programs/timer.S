# SPDX-License-Identifier: Apache-2.0
# Reads device time, sets the timer 1000 cycles later, waits for it in wfi, reads the time again; then the same, busy.
.include "test.inc"
.macro set_timer cycles
  get a0, NPU_REG_TIME_LO
  get a1, NPU_REG_TIME_HI
  li t0, \cycles
  add a2, a0, t0
  li t0, -1                        # never, while one half is new and the other old
  put t0, NPU_REG_TIMER_COMPARE_LO
  put a1, NPU_REG_TIMER_COMPARE_HI
  put a2, NPU_REG_TIMER_COMPARE_LO
.endm
  begin
  la t0, on_timer
  csrw mtvec, t0
  li t0, 0x80
  csrw mie, t0
  set_timer 1000
  wfi
  get a3, NPU_REG_TIME_LO
  sub a3, a3, a2                   # how late
  result a3
  li a4, -1
  put a4, NPU_REG_TIMER_COMPARE_HI
  csrsi mstatus, 8
  set_timer 1000
  li s0, 0
1:
  addi s0, s0, 1
  beqz s1, 1b
  result s2                        # how late
  csrr a0, mcause
  result a0
  finish
  .balign 4
on_timer:
  get s2, NPU_REG_TIME_LO
  sub s2, s2, a2
  li t5, -1
  put t5, NPU_REG_TIMER_COMPARE_HI
  li s1, 1
  mret
