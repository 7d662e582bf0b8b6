# SPDX-License-Identifier: Apache-2.0
# An exception in the handler of an interrupt is taken; its handler gives up.
.include "test.inc"
  begin
  la t0, on_trap
  csrw mtvec, t0
  li t0, 0x80
  csrw mie, t0
  put x0, NPU_REG_TIMER_COMPARE_HI
  put x0, NPU_REG_TIMER_COMPARE_LO
  csrsi mstatus, 8
  finish
  .balign 4
on_trap:
  csrr t0, mcause
  result t0
  bgez t0, 1f
culprit:
  .4byte 0xffffffff
1:
  la t1, culprit
  result t1
  c.ebreak
