// SPDX-License-Identifier: Apache-2.0
// How the control CPU reaches registers and device memory. Every access costs time of the device and of the host, so it
// is made once and kept.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "hw/contract/gen/npu_contract.h"

static inline uint32_t npu_read(uint32_t offset) {
  return *(volatile uint32_t *)(uintptr_t)(NPU_CPU_REGISTERS_BASE + offset);
}

static inline void npu_write(uint32_t offset, uint32_t value) {
  *(volatile uint32_t *)(uintptr_t)(NPU_CPU_REGISTERS_BASE + offset) = value;
}

// Device memory at a device address below NPU_CPU_DRAM_BYTES.
static inline volatile void *npu_dram(uint32_t address) {
  return (volatile void *)(uintptr_t)(NPU_CPU_DRAM_BASE + address);
}

// A word of whatever lies there.
typedef uint32_t __attribute__((may_alias)) npu_word;

static inline uint32_t npu_low(uint64_t value) { return (uint32_t)value; }
static inline uint32_t npu_high(uint64_t value) { return (uint32_t)(value >> 32); }

// Whether [base, base + bytes) lies within [0, limit), whatever the numbers.
static inline bool npu_within(uint64_t base, uint64_t bytes, uint64_t limit) {
  return bytes <= limit && base <= limit - bytes;
}
