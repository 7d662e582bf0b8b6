# SPDX-License-Identifier: Apache-2.0
# Multiplication, division, atomics, compressed code.
.include "test.inc"
  begin
  li a0, -7
  li a1, 3
  mul a2, a0, a1
  result a2
  mulh a2, a0, a1
  result a2
  mulhu a2, a0, a1
  result a2
  mulhsu a2, a0, a1
  result a2
  div a2, a0, a1
  result a2
  rem a2, a0, a1
  result a2
  divu a2, a0, a1
  result a2
  remu a2, a0, a1
  result a2
  div a2, a0, x0                   # by zero
  result a2
  rem a2, a0, x0
  result a2
  li a0, 0x80000000
  li a1, -1
  div a2, a0, a1                   # overflow
  result a2
  rem a2, a0, a1
  result a2
  li s0, DATA + 0x1000
  li a0, 5
  sw a0, 0(s0)
  li a1, -2
  amoadd.w a2, a1, (s0)            # 5, then 3
  result a2
  amomaxu.w a2, a1, (s0)           # 3, then -2
  result a2
  amomin.w a2, a0, (s0)            # -2, stays
  result a2
  amoswap.w a2, a0, (s0)           # -2, then 5
  result a2
  lr.w a2, (s0)
  sc.w a3, a1, (s0)                # succeeds
  result a3
  sc.w a3, a0, (s0)                # has no reservation
  result a3
  lw a2, 0(s0)
  result a2
  c.li a0, -3
  c.addi a0, 10
  c.mv a1, a0
  c.slli a1, 4
  c.sub a1, a0
  c.sw a1, 4(s0)
  c.lw a2, 4(s0)
  result a2
  # Misaligned accesses to the data memory are executed.
  li a0, 0x04030201
  sw a0, 0x11(s0)
  lhu a1, 0x12(s0)
  result a1
  finish
