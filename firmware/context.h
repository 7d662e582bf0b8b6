// SPDX-License-Identifier: Apache-2.0
// The rings and who they belong to: ring 0 is the driver's own, rings 1 to 15 are contexts with one job each.
#pragma once

#include "firmware/core.h"
#include "firmware/ring.h"
#include "firmware/task.h"

enum { NPU_RINGS = 16 };

struct npu_context {
  struct npu_ring_view ring;
  uint32_t number;  // of the ring
  uint32_t priority, owner;
  uint8_t attention;           // how often its corruption is to be told again
  uint8_t cancelled[256 / 8];  // a bit an entry of the ring: complete it as cancelled instead of running it
  struct npu_task *task;
};

extern struct npu_context npu_contexts[NPU_RINGS];
// Rings that have a task: a bit each.
extern uint32_t npu_tasks;

__attribute__((noinline)) void npu_contexts_init(void);

// Looks for new requests of a ring, and takes those that can be taken: on ring 0 all, else until there is a task.
__attribute__((noinline)) void npu_context_doorbell(struct npu_context *context);
// Serves the rings whose task has ended since, and that have requests waiting. True when there was one.
bool npu_contexts_serve_all(void);
// The rings that it serves: a bit each.
extern uint32_t npu_to_serve;
static inline bool npu_contexts_serve(void) { return npu_to_serve != 0 && npu_contexts_serve_all(); }
// The driver may have consumed completions: reads how far all rings are. True when some are left.
bool npu_contexts_collect(void);
// Reads the same until some are left; true when none is, on no ring.
bool npu_contexts_collected(void);
// The ring is not served any more. Its task ends without a completion.
void npu_context_corrupt(struct npu_context *context);

// The task of the context has ended: writes its completion. `fault` is null when it ended well; `queues`, unless
// null, tells what each queue was doing. The core must not work on it any more.
void npu_context_complete(struct npu_context *context, const struct npu_fault *fault, const struct npu_queues *queues);
// As npu_context_complete(), with an error that the firmware found.
void npu_context_fail(struct npu_context *context, enum npu_error code);
// The same, of a job that may not start. What is wrong with its sizes has a number.
void npu_context_refuse(struct npu_context *context, enum npu_error code);
// Forgets the task.
void npu_context_drop(struct npu_context *context);
// Ends the task without a completion, and closes the ring.
void npu_context_close(struct npu_context *context);

// Makes what was read ahead (npu_ahead_task()) the context's task. Returns the one before, which has ended well:
// npu_context_end() writes its completion, and takes the request of the new one.
struct npu_task *npu_context_advance(struct npu_context *context);
void npu_context_end(struct npu_context *context, struct npu_task *ended);

// Whether cancel has marked the next request.
bool npu_context_marked(const struct npu_context *context);
// Request `id` of the ring is to end as cancelled.
void npu_context_cancel(struct npu_context *context, uint32_t id);
