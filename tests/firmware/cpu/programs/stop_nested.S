# SPDX-License-Identifier: Apache-2.0
# A trap in the handler of a trap.
.include "test.inc"
  begin
  la t0, on_trap
  csrw mtvec, t0
  ecall                            # handled
  ecall                            # and again
  li a0, 1
  ecall                            # traps again
  finish
  .balign 4
on_trap:
  csrr t0, mcause
  result t0
  bnez a0, 1f
  csrr t0, mepc
  addi t0, t0, 4
  csrw mepc, t0
  mret
1:
  li a1, 0x50000000
  sw a0, 0(a1)
  j 1b
