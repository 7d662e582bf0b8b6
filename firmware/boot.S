# SPDX-License-Identifier: Apache-2.0
# First instructions after reset, and the only ones without a stack: test the data memory, fill it, call npu_main.
# The NPU_* constants come from the contract; CMakeLists.txt hands them to the assembler.

    .section .text.boot, "ax"
    .globl npu_reset
    .type npu_reset, @function
npu_reset:
    # The register is 0 only behind a reset. A call through a null pointer comes here with a state in it, and what the
    # driver knows of this firmware would not hold any more.
    li t0, NPU_CPU_REGISTERS_BASE + NPU_REG_FIRMWARE_STATE
    lw t0, 0(t0)
    bnez t0, npu_restarted

    la t0, npu_trap_entry
    csrw mtvec, t0
    la t0, npu_trap_stack_top
    csrw mscratch, t0

    # Every word keeps its own address, then its complement.
    li a0, NPU_CPU_DATA_BASE
    li a1, NPU_CPU_DATA_BASE + NPU_CPU_DATA_BYTES
    li a2, 0
.Ltest_pattern:
    mv t0, a0
1:  xor t1, t0, a2
    sw t1, 0(t0)
    addi t0, t0, 4
    bltu t0, a1, 1b
    mv t0, a0
2:  xor t1, t0, a2
    lw t2, 0(t0)
    bne t1, t2, .Ldata_memory_failed
    addi t0, t0, 4
    bltu t0, a1, 2b
    not a2, a2
    bnez a2, .Ltest_pattern

    la t0, npu_data_load
    la t1, npu_data_start
    la t2, npu_data_end
    j 4f
3:  lw t3, 0(t0)
    sw t3, 0(t1)
    addi t0, t0, 4
    addi t1, t1, 4
4:  bltu t1, t2, 3b

    la t0, npu_bss_start
    la t1, npu_bss_end
    j 6f
5:  sw zero, 0(t0)
    addi t0, t0, 4
6:  bltu t0, t1, 5b

    la sp, npu_stack_top
    li s0, 0  # end of the chain of frames
    li ra, 0
    call npu_main
    ebreak

.Ldata_memory_failed:
    li t0, NPU_CPU_REGISTERS_BASE + NPU_REG_FIRMWARE_STATE
    li t1, NPU_FIRMWARE_STATE_FAILED | NPU_SELF_TEST_DATA_MEMORY << NPU_REG_FIRMWARE_STATE_DETAIL_LSB
    sw t1, 0(t0)
7:  wfi
    j 7b
    .size npu_reset, . - npu_reset

# A trap, so that the driver gets the backtrace of the jump.
    .globl npu_restarted
    .type npu_restarted, @function
npu_restarted:
    ebreak
    j npu_restarted
    .size npu_restarted, . - npu_restarted
