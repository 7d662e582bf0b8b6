# SPDX-License-Identifier: Apache-2.0
# 100 instructions; 10 register accesses; 5 of persistent SRAM; 4 of DRAM; the counters, read one after another.
.include "test.inc"
  begin
  li s0, REGISTERS + NPU_REG_CPU_BUSY_LO
  li s1, REGISTERS + NPU_REG_CPU_RETIRED_LO
  li s2, PSRAM
  li s3, DRAM
  lw a0, 0(s0)
  lw a1, 0(s1)
  .rept 100
  nop
  .endr
  lw a2, 0(s0)
  lw a3, 0(s1)
  .rept 10
  lw a4, 0(s1)
  .endr
  lw a4, 0(s0)
  .rept 5
  lw a5, 0(s2)
  .endr
  lw a5, 0(s0)
  lw a6, 0(s3)
  sh a6, 2(s3)
  lb a6, 5(s3)
  sw a6, 8(s3)
  lw a6, 0(s0)
  lw a7, 0(s1)
  csrr t0, minstret
  sub a2, a2, a0
  result a2
  sub a3, a3, a1
  result a3
  sub t1, a7, a1
  result t1
  sub t0, t0, a7
  result t0
  sub a4, a4, a0
  result a4
  sub a5, a5, a0
  result a5
  sub a6, a6, a0
  result a6
  finish
