# SPDX-License-Identifier: Apache-2.0
# Counts in result 0 for ever.
.include "test.inc"
  begin
  li s0, 0
spin:
  addi s0, s0, 1
  sw s0, 0(s11)
  j spin
