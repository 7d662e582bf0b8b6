// SPDX-License-Identifier: Apache-2.0
#include "firmware/ahead.h"

#include "firmware/phase.h"
#include "firmware/sizes.h"

static struct npu_task npu_task_memory[NPU_RINGS + 1];
// The task that no context has, and the context whose next request is in it; null: none.
static struct npu_task *npu_spare = &npu_task_memory[NPU_RINGS];
static const struct npu_context *npu_ahead_of;

void npu_ahead_init(void) {
  for (uint32_t i = 0; i < NPU_RINGS; ++i) npu_contexts[i].task = &npu_task_memory[i];
}

void npu_ahead_read(struct npu_context *context) {
  const struct npu_ring_view *ring = &context->ring;
  if (npu_ahead_of == context || !npu_ring_served(ring) || npu_ring_waiting(ring) == 0) return;
  // The task's completion needs a place, and the next one must have its own.
  if (npu_ring_uncollected(ring) + 1 >= ring->entries || npu_context_marked(context)) return;
  volatile const struct npu_ring_request *request = npu_ring_request(ring, 0);
  if (request->type != NPU_REQUEST_RUN) return;
  npu_phase(NPU_PHASE_FETCH, context->number);
  npu_ahead_of = 0;
  npu_spare->id = request->id;
  npu_spare->report.engine_cycles = 0;
  npu_spare->report.event_count = 0;
  if (npu_sizes_load_job(request->argument, npu_spare) == NPU_ERROR_OK) npu_ahead_of = context;
}

struct npu_task *npu_ahead_task(const struct npu_context *context) {
  return npu_ahead_of == context && npu_ring_waiting(&context->ring) != 0 ? npu_spare : 0;
}

struct npu_task *npu_ahead_take(struct npu_context *context) {
  struct npu_task *before = context->task;
  context->task = npu_spare;
  npu_spare = before;
  npu_ahead_of = 0;
  return before;
}

void npu_ahead_forget(const struct npu_context *context) {
  if (npu_ahead_of == context) npu_ahead_of = 0;
}
