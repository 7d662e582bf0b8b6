# SPDX-License-Identifier: Apache-2.0
# Each exception once, 3 results each, and then what a refused load left in its register.
.include "test.inc"
.include "trap.inc"
  begin
  la t0, on_trap
  csrw mtvec, t0
  probe .4byte 0xffffffff          # illegal
  probe .2byte 0x0000              # illegal, compressed
  probe .4byte 0x00007053          # fadd.s: there is no floating point
  probe csrr a0, satp              # no supervisor mode
  probe csrr a0, time              # a counter that there is not
  probe csrw mhartid, a0           # read-only by its number
  probe sret
  probe ecall
  probe ebreak
  probe c.ebreak
  li a1, REGISTERS + 2
  li a0, 0x1111
  probe lw a0, 0(a1)               # misaligned outside of the memories
  probe sw a0, 0(a1)
  probe lh a0, -1(a1)
  li a1, 0x40000000
  probe lw a0, 4(a1)               # nothing there
  probe sw a0, 8(a1)
  li a1, REGISTERS
  probe lb a0, 1(a1)               # registers: words only
  probe sh a0, 4(a1)
  probe lw a0, 0x7fc(a1)           # no such register
  li a1, NPU_CPU_CODE_BASE + 0x100
  probe sb a0, 0(a1)               # code is not written
  li a1, NPU_CPU_CODE_BASE + NPU_CPU_CODE_BYTES
  probe lw a0, 0(a1)               # just behind it
  li a1, DATA + NPU_CPU_DATA_BYTES - 2
  probe lw a0, 0(a1)               # half of it in the data memory
  li a1, DRAM + 0x40
  probe lr.w a0, (a1)              # atomic accesses to data memory only
  probe amoadd.w a0, a0, (a1)
  li a1, DATA + 0x802
  probe amoadd.w a0, a0, (a1)      # misaligned
  probe lr.w a0, (a1)
  li a1, DRAM + 0x7ffffff0
  probe lw a0, 0(a1)               # beyond the DRAM that there is
  mv a2, a0
  li a1, DATA
  probe jr a1                      # data is not executed
  li a1, REGISTERS
  probe jalr a1
  li a1, NPU_CPU_CODE_BASE + NPU_CPU_CODE_BYTES - 2
  probe jr a1                      # half an instruction at the end of the code
  li a1, NPU_CPU_CODE_BASE + NPU_CPU_CODE_BYTES - 4
  probe jr a1                      # and running over it
  li a1, NPU_CPU_CODE_BASE + NPU_CPU_CODE_BYTES
  probe jr a1                      # behind it
  probe lw a0, 0(a1)               # which can be read no more than before
  result a2
  csrr t0, mstatus
  result t0
  finish
  handler on_trap
  .org NPU_CPU_CODE_BYTES - 4
  .2byte 0x0001                    # c.nop
  .2byte 0x0513                    # li a0, ...
