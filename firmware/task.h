// SPDX-License-Identifier: Apache-2.0
// A run request while the firmware has it: what its job asks for, and how far it is.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "firmware/core.h"
#include "hw/contract/gen/npu_contract.h"

enum npu_task_state {
  NPU_TASK_NONE,
  NPU_TASK_READY,    // not started yet; may have to wait for ready_at
  NPU_TASK_ACTIVE,   // its stream, or a stream that saves or restores it, is in the core
  NPU_TASK_STOPPED,  // stopped at a yield; what is live is still in the scratchpad
  NPU_TASK_SAVED,    // stopped; what is live is in the region `save`
};

// What its completion reports.
struct npu_task_report {
  uint32_t preemptions, event_count;
  uint64_t engine_cycles, save_cycles, saved_bytes;
  uint32_t loads, load_cycles;  // of constants that stay
  uint64_t accepted, started, blocked;
};

// Of a job that brings sizes (sizes.h).
struct npu_task_sizes {
  uint32_t seen;        // `current` is as it was when streams had been written so often
  bool current;         // the stream is that of these sizes
  uint32_t evaluation;  // which one was of these sizes
  uint32_t fault;       // number of the symbol, condition or rule that is wrong
};

struct npu_task {
  enum npu_task_state state;
  uint32_t id;
  uint32_t sequence;  // order in which the firmware accepted them
  // As it was read, and checked; `reading` is a number of its own, which other contents never had. 0: none.
  struct npu_job job;
  uint32_t reading;
  // Where it goes on, after a yield.
  uint32_t next_word;
  struct npu_segment segment;
  struct npu_task_sizes sizes;
  struct npu_task_report report;
  uint32_t busy_at_acceptance;  // cpu_busy_lo
  uint64_t blocked_since;       // 0: not blocked now
};
