# SPDX-License-Identifier: Apache-2.0
# What accesses to DRAM cost, in cycles of the CPU: the lines of loads, the places of stores. Each figure counts the read
# of the count behind it.
.include "test.inc"
.macro count register
  lw \register, 0(s0)
.endm
  begin
  li s0, REGISTERS + NPU_REG_CPU_BUSY_LO
  li s1, DRAM
  li s2, DRAM + 0x1000
  li s3, REGISTERS + NPU_REG_INTERRUPT_ENABLE
  count a0
  .set offset, 0
  .rept 16
  lw t0, offset(s1)
  .set offset, offset + 4
  .endr
  count a1
  lw t0, 0(s1)
  lw t1, 0(s0)
  lw t0, 0(s1)
  count a2
  .set offset, 0
  .rept 8
  sw zero, offset(s2)
  .set offset, offset + 4
  .endr
  count a3
  sw zero, 32(s2)
  sw zero, 0(s3)
  count a4
  lw t0, 0(s2)
  li t1, 7
  sw t1, 4(s2)
  lw a5, 4(s2)
  sub a4, a4, a3
  sub a3, a3, a2
  sub a2, a2, a1
  sub a1, a1, a0
  result a1
  result a2
  result a3
  result a4
  result a5
  finish
