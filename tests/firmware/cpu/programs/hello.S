# SPDX-License-Identifier: Apache-2.0
# Device id, an address in DRAM, a character, the data memory.
.include "test.inc"
  begin
  get a0, NPU_REG_ID
  result a0
  li a1, 0x12345678
  li t0, DRAM + 0x100
  sw a1, 0(t0)
  lhu a2, 2(t0)
  result a2
  lb a3, 0(t0)
  result a3
  li a4, 'A'
  put a4, NPU_REG_UART
  li t0, PSRAM
  lw a5, 0(t0)
  result a5
  finish
