# SPDX-License-Identifier: Apache-2.0
# CSRs: what they keep of what is written, the six instructions, counters.
.include "test.inc"
  begin
  li a0, -1
  csrw mstatus, a0
  csrr a1, mstatus
  result a1
  csrw mstatus, x0
  csrr a1, mstatus
  result a1
  csrw mie, a0
  csrr a1, mie
  result a1
  csrw mtvec, a0
  csrr a1, mtvec
  result a1
  csrw mepc, a0
  csrr a1, mepc
  result a1
  csrw misa, x0
  csrr a1, misa
  result a1
  csrw mip, a0
  csrr a1, mip
  result a1
  li a0, 0xf0
  csrw mscratch, a0
  li a1, 0x3c
  csrrs a2, mscratch, a1
  result a2
  csrrc a2, mscratch, a1
  result a2
  csrrwi a2, mscratch, 21
  result a2
  csrrsi a2, mscratch, 2
  result a2
  csrrci a2, mscratch, 1
  result a2
  csrr a2, mscratch
  result a2
  csrr a2, mhartid
  result a2
  csrw minstret, x0
  csrr a2, minstret
  result a2
  csrw minstreth, a0
  csrr a2, minstreth
  result a2
  csrr a2, mhpmcounter5
  result a2
  finish
