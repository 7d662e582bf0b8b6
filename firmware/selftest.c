// SPDX-License-Identifier: Apache-2.0
#include "firmware/selftest.h"

#include "firmware/context.h"
#include "firmware/device.h"
#include "firmware/log.h"
#include "firmware/memory.h"

struct npu_device npu_device;

// The end of the image in the code memory, from the linker script.
extern const uint8_t npu_image_end[];

static uint32_t npu_hash_byte(uint32_t hash, uint32_t byte) { return (hash ^ byte) * 16777619u; }

#define NPU_HASH_START 2166136261u

uint32_t npu_code_checksum(void) {
  uint32_t hash = NPU_HASH_START;
  for (uintptr_t at = NPU_CPU_CODE_BASE; at < (uintptr_t)npu_image_end; ++at) {
    hash = npu_hash_byte(hash, *(volatile const uint8_t *)at);
  }
  return hash;
}

static uint32_t npu_caps_hash(void) {
  uint32_t hash = NPU_HASH_START;
  for (uint32_t i = 0; i < NPU_CAPABILITY_COUNT; ++i) {
    const uint32_t value = npu_read(NPU_REG_CAP_CLOCK_MHZ + 4 * i);
    for (uint32_t lsb = 0; lsb < 32; lsb += 8) hash = npu_hash_byte(hash, value >> lsb & 0xff);
  }
  return hash;
}

static enum npu_self_test npu_test_device(void) {
  const uint32_t version = NPU_CONTRACT_MAJOR << NPU_REG_CONTRACT_VERSION_MAJOR_LSB | NPU_CONTRACT_MINOR;
  if (npu_read(NPU_REG_ID) != NPU_REG_ID_RESET) return NPU_SELF_TEST_DEVICE_ID;
  if (npu_read(NPU_REG_CONTRACT_VERSION) != version) return NPU_SELF_TEST_DEVICE_VERSION;
  if (npu_read(NPU_REG_CAPS_HASH) != npu_caps_hash()) return NPU_SELF_TEST_CAPABILITIES;
  npu_device.dram_bytes = (uint64_t)npu_read(NPU_REG_CAP_DRAM_MIB) << 20;
  npu_device.psram_bytes = npu_read(NPU_REG_CAP_PSRAM_BYTES);
  npu_device.psram_port_bytes = npu_read(NPU_REG_CAP_PSRAM_PORT_BYTES);
  npu_device.var_entries = npu_read(NPU_REG_CAP_VAR_ENTRIES);
  npu_device.spm_bytes = npu_read(NPU_REG_CAP_SPM_BYTES);
  npu_device.cycles_per_us = npu_read(NPU_REG_CAP_CLOCK_MHZ);
  return NPU_SELF_TEST_NONE;
}

static enum npu_self_test npu_test_shared(volatile const struct npu_ring *ring, uint64_t visible) {
  const uint64_t base = ring->shared_base, bytes = ring->shared_bytes;
  if (base % 64 != 0 || !npu_within(base, bytes, visible)) return NPU_SELF_TEST_SHARED_MEMORY;
  npu_device.shared_base = npu_low(base);
  npu_device.shared_end = npu_low(base + bytes);
  return NPU_SELF_TEST_NONE;
}

static enum npu_self_test npu_open_log(volatile struct npu_ring *ring) {
  const uint64_t base = ring->log_base;
  const uint32_t bytes = ring->log_bytes, level = ring->log_level;
  const bool inside = base >= npu_device.shared_base && npu_within(base, bytes, npu_device.shared_end);
  if (bytes != 0 && ((bytes & (bytes - 1)) != 0 || bytes < 4 || base % 4 != 0 || !inside)) {
    return NPU_SELF_TEST_LOG_BUFFER;
  }
  npu_log_open(ring, npu_low(base), bytes, level < NPU_LOG_REQUEST ? level : NPU_LOG_REQUEST);
  return NPU_SELF_TEST_NONE;
}

static enum npu_self_test npu_test_admin_ring(void) {
  const uint64_t visible = npu_device.dram_bytes < NPU_CPU_DRAM_BYTES ? npu_device.dram_bytes : NPU_CPU_DRAM_BYTES;
  const uint64_t address = (uint64_t)npu_read(NPU_REG_ADMIN_RING_HI) << 32 | npu_read(NPU_REG_ADMIN_RING_LO);
  if (address % 64 != 0 || !npu_within(address, sizeof(struct npu_ring), visible)) return NPU_SELF_TEST_RING_ADDRESS;
  volatile struct npu_ring *ring = npu_dram(npu_low(address));
  // Where the shared memory lies counts only in what is a ring at all.
  npu_device.shared_base = npu_low(address);
  npu_device.shared_end = npu_low(visible);
  enum npu_self_test wrong = npu_ring_open(&npu_contexts[0].ring, address);
  if (wrong == NPU_SELF_TEST_NONE) wrong = npu_test_shared(ring, visible);
  if (wrong == NPU_SELF_TEST_NONE) wrong = npu_ring_open(&npu_contexts[0].ring, address);
  if (wrong == NPU_SELF_TEST_NONE) wrong = npu_open_log(ring);
  return wrong;
}

enum npu_self_test npu_self_test(void) {
  const enum npu_self_test wrong = npu_test_device();
  return wrong != NPU_SELF_TEST_NONE ? wrong : npu_test_admin_ring();
}
