# SPDX-License-Identifier: Apache-2.0
# Phase records, firmware's registers, the latched time, a register of the core.
.include "test.inc"
  begin
  li s0, 0
1:
  li t0, 0x000701
  slli t1, s0, 8
  add t0, t0, t1
  put t0, NPU_REG_PHASE
  addi s0, s0, 1
  li t1, 5
  blt s0, t1, 1b
  get a0, NPU_REG_PHASE
  result a0
  li a0, 0x010002
  put a0, NPU_REG_FIRMWARE_VERSION
  li a0, 0xabcd
  put a0, NPU_REG_FIRMWARE_CHECKSUM
  li a0, 2
  put a0, NPU_REG_FIRMWARE_STATE
  li a0, 99
  put a0, NPU_REG_ADMIN_RING_LO    # the host's
  get a0, NPU_REG_ADMIN_RING_LO
  result a0
  li a0, 0x77
  put a0, NPU_REG_JOB_OWNER
  get a0, NPU_REG_JOB_OWNER
  result a0
  get a0, NPU_REG_CPU_STATUS
  result a0
  finish
