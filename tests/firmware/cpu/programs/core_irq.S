# SPDX-License-Identifier: Apache-2.0
# Starts a job without commands, waits for its interrupt, clears it; the line is down at the next instruction.
.include "test.inc"
  begin
  li t0, 0x800
  csrw mie, t0
  li t0, NPU_REG_INTERRUPT_PENDING_CORE_MASK
  put t0, NPU_REG_INTERRUPT_ENABLE
  li t0, NPU_REG_IRQ_ENABLE_JOB_MASK
  put t0, NPU_REG_IRQ_ENABLE
  li t0, NPU_REG_CONTROL_START_MASK
  put t0, NPU_REG_CONTROL
  wfi
  get a0, NPU_REG_INTERRUPT_PENDING
  result a0
  get a0, NPU_REG_STATUS
  result a0
  li t0, 1
  li t6, REGISTERS + NPU_REG_IRQ_STATUS
  sw t0, 0(t6)
  csrr a0, mip
  result a0
  finish
