// SPDX-License-Identifier: Apache-2.0
// One ring of requests and completions in the shared memory, as the firmware serves it. Knows nothing about what the
// requests mean.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "hw/contract/gen/npu_contract.h"

struct npu_ring_view {
  volatile struct npu_ring *header;  // null: not open
  volatile struct npu_ring_request *requests;
  volatile struct npu_ring_completion *completions;
  uint32_t entries;
  uint32_t produced;   // requests that the driver had written when the firmware last looked
  uint32_t consumed;   // requests taken
  uint32_t completed;  // completions written
  uint32_t collected;  // completions that the driver had consumed when the firmware last looked
  bool corrupt;        // not served until it is opened again
};

// Opens the ring at a device address, with the indices that stand there. NPU_SELF_TEST_NONE, or what is wrong with it:
// NPU_SELF_TEST_RING_ADDRESS, _RING_HEADER or _RING_VERSION; the ring is closed then.
enum npu_self_test npu_ring_open(struct npu_ring_view *ring, uint64_t address);
void npu_ring_close(struct npu_ring_view *ring);
static inline bool npu_ring_served(const struct npu_ring_view *ring) { return ring->header != 0 && !ring->corrupt; }

// Reads how far the driver has consumed completions. False: the index is impossible.
static inline bool npu_ring_collect(struct npu_ring_view *ring) {
  const uint32_t collected = ring->header->completion_consumer;
  if (ring->completed - collected > ring->entries) return false;
  ring->collected = collected;
  return true;
}
// The same, and how far it has written requests: both lie in one line of memory.
static inline bool npu_ring_look(struct npu_ring_view *ring) {
  const uint32_t produced = ring->header->request_producer;
  if (produced - ring->consumed > ring->entries) return false;
  ring->produced = produced;
  return npu_ring_collect(ring);
}
static inline uint32_t npu_ring_waiting(const struct npu_ring_view *ring) { return ring->produced - ring->consumed; }
// The request `ahead` of the next one; 0 <= ahead < npu_ring_waiting().
static inline volatile const struct npu_ring_request *npu_ring_request(const struct npu_ring_view *ring,
                                                                       uint32_t ahead) {
  return &ring->requests[(ring->consumed + ahead) & (ring->entries - 1)];
}
static inline void npu_ring_take(struct npu_ring_view *ring) {
  ++ring->consumed;
  ring->header->request_consumer = ring->consumed;
}

static inline uint32_t npu_ring_uncollected(const struct npu_ring_view *ring) {
  return ring->completed - ring->collected;
}
static inline bool npu_ring_has_room(const struct npu_ring_view *ring) {
  return npu_ring_uncollected(ring) < ring->entries;
}
// The completion to fill in next; there must be room. npu_ring_publish() hands it over and tells the host.
static inline volatile struct npu_ring_completion *npu_ring_completion(const struct npu_ring_view *ring) {
  return &ring->completions[ring->completed & (ring->entries - 1)];
}
void npu_ring_publish(struct npu_ring_view *ring);
