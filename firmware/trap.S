# SPDX-License-Identifier: Apache-2.0
# Entry of every trap: exceptions only, since the firmware never takes interrupts (it looks at mip after wfi). A trap is
# the end: npu_trap reports it, and the ebreak in the handler stops the CPU, with all registers as the trap found them.
#
# It runs on a stack of its own, so that a stack overflow can be told.

    .set FRAME, 80

    .section .text.trap, "ax"
    .globl npu_trap_entry
    .type npu_trap_entry, @function
    .balign 4
npu_trap_entry:
    csrrw sp, mscratch, sp
    addi sp, sp, -FRAME
    sw ra, 0(sp)
    sw t0, 4(sp)
    sw t1, 8(sp)
    sw t2, 12(sp)
    sw a0, 16(sp)
    sw a1, 20(sp)
    sw a2, 24(sp)
    sw a3, 28(sp)
    sw a4, 32(sp)
    sw a5, 36(sp)
    sw a6, 40(sp)
    sw a7, 44(sp)
    sw t3, 48(sp)
    sw t4, 52(sp)
    sw t5, 56(sp)
    sw t6, 60(sp)
    sw s0, FRAME-8(sp)
    csrr a1, mepc
    sw a1, FRAME-4(sp)
    addi s0, sp, FRAME  # a frame whose caller is the instruction that trapped

    csrr a0, mcause
    csrr a2, mtval
    csrr a3, mscratch
    call npu_trap

    lw ra, 0(sp)
    lw t0, 4(sp)
    lw t1, 8(sp)
    lw t2, 12(sp)
    lw a0, 16(sp)
    lw a1, 20(sp)
    lw a2, 24(sp)
    lw a3, 28(sp)
    lw a4, 32(sp)
    lw a5, 36(sp)
    lw a6, 40(sp)
    lw a7, 44(sp)
    lw t3, 48(sp)
    lw t4, 52(sp)
    lw t5, 56(sp)
    lw t6, 60(sp)
    lw s0, FRAME-8(sp)
    csrr sp, mscratch
    ebreak
    j npu_trap_entry
    .size npu_trap_entry, . - npu_trap_entry
