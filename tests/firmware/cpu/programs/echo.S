# SPDX-License-Identifier: Apache-2.0
# Waits with interrupts off; at each doorbell counts it in result 0, raises a completion, and waits again.
.include "test.inc"
  begin
  li t0, 0x800
  csrw mie, t0
  li t0, NPU_REG_INTERRUPT_PENDING_DOORBELL_MASK
  put t0, NPU_REG_INTERRUPT_ENABLE
  li s0, 0
1:
  sw s0, 0(s11)
  wfi
  get a0, NPU_REG_DOORBELL_PENDING
  put a0, NPU_REG_DOORBELL_PENDING
  addi s0, s0, 1
  li a0, NPU_REG_HOST_IRQ_STATUS_COMPLETION_MASK
  put a0, NPU_REG_HOST_IRQ_RAISE
  j 1b
