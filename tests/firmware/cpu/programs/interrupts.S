# SPDX-License-Identifier: Apache-2.0
# External interrupt by doorbell, in a vectored table; priority over the timer; no interrupt while they are off.
.include "test.inc"
  begin
  la t0, table + 1
  csrw mtvec, t0
  li t0, 0x880                     # timer and external
  csrw mie, t0
  li t0, NPU_REG_INTERRUPT_PENDING_DOORBELL_MASK
  put t0, NPU_REG_INTERRUPT_ENABLE
  # The timer is due at once, but interrupts are off.
  put x0, NPU_REG_TIMER_COMPARE_HI
  put x0, NPU_REG_TIMER_COMPARE_LO
  csrr a0, mip
  result a0                        # timer
  # The doorbell has rung before; both interrupts are there.
1:
  csrr a0, mip
  li t0, 0x880
  bne a0, t0, 1b
  csrsi mstatus, 8
  nop
  csrci mstatus, 8
  result s1                        # how often: external, timer
  result s2
  csrr a0, mstatus
  result a0
  finish
on_external:
  csrr a0, mcause
  result a0
  result s2                        # the timer's was not before
  get a0, NPU_REG_DOORBELL_PENDING
  result a0
  put a0, NPU_REG_DOORBELL_PENDING
  csrr a0, mstatus
  result a0
  addi s1, s1, 1
  mret
on_timer:
  csrr a0, mcause
  result a0
  li a0, -1
  put a0, NPU_REG_TIMER_COMPARE_HI
  csrr a0, mip
  result a0
  addi s2, s2, 1
  mret
  .balign 64
table:
  .option norvc
  ebreak
  ebreak
  ebreak
  ebreak
  ebreak
  ebreak
  ebreak
  j on_timer
  ebreak
  ebreak
  ebreak
  j on_external
  .option rvc
