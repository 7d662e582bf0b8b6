# SPDX-License-Identifier: Apache-2.0
# Watchdog of 5,000 device cycles: written again for a while, then rested in wfi until the timer, then forgotten.
.include "test.inc"
  begin
  li s0, 5000
  li s1, 20
1:
  put s0, NPU_REG_WATCHDOG
  li t0, 200
2:
  addi t0, t0, -1
  bnez t0, 2b
  addi s1, s1, -1
  bnez s1, 1b
  get a0, NPU_REG_WATCHDOG
  result a0
  li t0, 0x80
  csrw mie, t0
  get a0, NPU_REG_TIME_LO
  li t0, 50000
  add a0, a0, t0
  put x0, NPU_REG_TIMER_COMPARE_HI
  put a0, NPU_REG_TIMER_COMPARE_LO
  wfi
  get a1, NPU_REG_TIME_LO
  sub a1, a1, a0
  result a1
  li s2, 0x5a5a5a5a
forever:
  j forever
