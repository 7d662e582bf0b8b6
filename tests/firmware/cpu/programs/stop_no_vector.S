# SPDX-License-Identifier: Apache-2.0
# A trap without mtvec.
.include "test.inc"
  begin
  li a0, 0x1234
  li a1, 0x40000004
  nop
  lw a0, 0(a1)
  finish
