// SPDX-License-Identifier: Apache-2.0
#include "firmware/ring.h"

#include "firmware/device.h"
#include "firmware/memory.h"
#include "firmware/timer.h"

enum { kMagic = 0x474e4952, kVersion = NPU_CONTRACT_MAJOR << 16 | NPU_CONTRACT_MINOR };

static bool npu_ring_in_shared(uint64_t address, uint32_t bytes) {
  return address % 64 == 0 && address >= npu_device.shared_base && npu_within(address, bytes, npu_device.shared_end);
}

static uint32_t npu_ring_bytes(uint32_t entries) {
  const uint32_t entry = sizeof(struct npu_ring_request) + sizeof(struct npu_ring_completion);
  return sizeof(struct npu_ring) + entries * entry;
}

enum npu_self_test npu_ring_open(struct npu_ring_view *ring, uint64_t address) {
  npu_ring_close(ring);
  if (!npu_ring_in_shared(address, sizeof(struct npu_ring))) return NPU_SELF_TEST_RING_ADDRESS;
  volatile struct npu_ring *header = npu_dram(npu_low(address));
  if (header->magic != kMagic) return NPU_SELF_TEST_RING_HEADER;
  if (header->version != kVersion) return NPU_SELF_TEST_RING_VERSION;
  const uint32_t entries = header->entries;
  if (entries < 2 || entries > 256 || (entries & (entries - 1)) != 0) return NPU_SELF_TEST_RING_HEADER;
  if (!npu_ring_in_shared(address, npu_ring_bytes(entries))) return NPU_SELF_TEST_RING_ADDRESS;

  ring->entries = entries;
  ring->consumed = header->request_consumer;
  ring->completed = header->completion_producer;
  ring->requests = (volatile struct npu_ring_request *)(header + 1);
  ring->completions = (volatile struct npu_ring_completion *)(ring->requests + entries);
  ring->header = header;
  if (!npu_ring_look(ring)) {
    npu_ring_close(ring);
    return NPU_SELF_TEST_RING_HEADER;
  }
  header->error = NPU_ERROR_OK;
  return NPU_SELF_TEST_NONE;
}

void npu_ring_close(struct npu_ring_view *ring) { *ring = (struct npu_ring_view){0}; }

void npu_ring_publish(struct npu_ring_view *ring) {
  ++ring->completed;
  ring->header->completion_producer = ring->completed;
  npu_raise_completion();
}
