// SPDX-License-Identifier: Apache-2.0
// The registers of sequencer and engines: what a stream is started with, how it ended, reset and power. Beside
// it only npu_dispatch starts streams, and variables.c has the table's registers.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "firmware/memory.h"
#include "hw/contract/gen/npu_contract.h"

// What the fault registers say, or what the firmware found in their place.
struct npu_fault {
  enum npu_error code;
  uint32_t command, other, queue;
  uint64_t address, cycle;
};

// How a stream ended.
struct npu_core_result {
  enum { NPU_CORE_BUSY, NPU_CORE_DONE, NPU_CORE_PREEMPTED, NPU_CORE_FAULT } end;
  uint64_t cycles;
  uint32_t events;
  uint32_t next_word, segment;  // preempted
};

// Brings the registers into a known state: no regions but the scratchpad, interrupt on.
void npu_core_init(void);
// How often that was done.
extern uint32_t npu_core_resets;

// What the registers hold: job registers from command_base_lo to counter_base_hi, and regions.
enum {
  NPU_CORE_FIRST = NPU_REG_COMMAND_BASE_LO,
  NPU_CORE_COUNT = (NPU_REG_COUNTER_BASE_HI - NPU_REG_COMMAND_BASE_LO) / 4 + 1,
  NPU_CORE_REGIONS = NPU_REGION_RESIDENT + 1
};
struct npu_mapping {
  uint64_t base;
  uint32_t limit, flags;
};
extern uint32_t npu_core_registers[NPU_CORE_COUNT];
extern struct npu_mapping npu_core_regions[NPU_CORE_REGIONS];

static inline void npu_core_update(uint32_t *known, uint32_t offset, uint32_t value) {
  if (*known == value) return;
  *known = value;
  npu_write(offset, value);
}
// Writes a job register, unless it holds that value already.
static inline void npu_core_set(uint32_t offset, uint32_t value) {
  npu_core_update(&npu_core_registers[(offset - NPU_CORE_FIRST) / 4], offset, value);
}
static inline void npu_core_set_pair(uint32_t offset, uint64_t value) {
  npu_core_set(offset, npu_low(value));
  npu_core_set(offset + 4, npu_high(value));
}
// The same for base, limit and flags of a region, 0 to 6.
void npu_core_set_region(uint32_t index, uint64_t base, uint32_t limit, uint32_t flags);
// A region that is a readable part of the scratchpad.
void npu_core_set_scratchpad(uint32_t index, uint32_t base, uint32_t limit, bool writable);

// Takes back the interrupt and says what happened; NPU_CORE_BUSY: nothing.
struct npu_core_result npu_core_take_result(void);
bool npu_core_running(void);
// Event records that the stream has produced so far.
uint32_t npu_core_events(void);
struct npu_fault npu_core_fault(void);
// Which queue held which command, and what it waited for.
struct npu_queues {
  uint32_t state[NPU_REG_QUEUE_COUNT], command[NPU_REG_QUEUE_COUNT];
};
// The engines go on meanwhile; state and command of each queue belong together.
void npu_core_look_at_queues(struct npu_queues *queues);
void npu_core_preempt(void);
// Stops whatever runs; forgets its results and its interrupt.
void npu_core_reset(void);

// Makes sure that the engines have power; false when it does not come.
bool npu_core_power_up(void);
void npu_core_power_down(void);
// For a stream that starts: the same, and the persistent SRAM is on.
bool npu_core_wake(void);
// Whether that has nothing to do.
extern bool npu_core_powered;
extern uint32_t npu_core_persistent;  // a psram_power
static inline bool npu_core_awake(void) { return npu_core_powered && npu_core_persistent == NPU_PSRAM_POWER_ON; }

// The persistent SRAM has power of its own. No job may run while it changes or scrubs.
bool npu_core_persistent_on(void);
void npu_core_persistent_power(enum npu_psram_power state);
// Bits that were put right, words that cannot be, and the byte offset of the last of them.
struct npu_scrubbed {
  uint32_t corrected, damaged, address;
};
struct npu_scrubbed npu_core_scrub(void);
void npu_core_acknowledge_loss(void);
