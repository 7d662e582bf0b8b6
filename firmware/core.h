// SPDX-License-Identifier: Apache-2.0
// The registers of sequencer and engines: what a stream is started with, how it ended, reset and power. Beside
// it only npu_dispatch starts streams, and variables.c has the table's registers.
#pragma once

#include <stdbool.h>
#include <stdint.h>

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
// Writes a job register, unless it holds that value already. `offset`: command_base_lo to counter_base_hi.
void npu_core_set(uint32_t offset, uint32_t value);
void npu_core_set_pair(uint32_t offset, uint64_t value);
// Base, limit and flags of a region, 1 to 5.
struct npu_mapping {
  uint64_t base;
  uint32_t limit, flags;
};
void npu_core_set_region(uint32_t index, const struct npu_mapping *region);

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

// The persistent SRAM has power of its own. No job may run while it changes or scrubs.
bool npu_core_persistent_on(void);
void npu_core_persistent_power(enum npu_psram_power state);
// Bits that were put right, words that cannot be, and the byte offset of the last of them.
struct npu_scrubbed {
  uint32_t corrected, damaged, address;
};
struct npu_scrubbed npu_core_scrub(void);
void npu_core_acknowledge_loss(void);
