// SPDX-License-Identifier: Apache-2.0
#include "firmware/context.h"

#include "firmware/admin.h"
#include "firmware/ahead.h"
#include "firmware/log.h"
#include "firmware/memory.h"
#include "firmware/phase.h"
#include "firmware/scheduler.h"
#include "firmware/sizes.h"
#include "firmware/timer.h"

enum { kCorruptionRepeats = 8 };

struct npu_context npu_contexts[NPU_RINGS];
uint32_t npu_tasks;

static uint32_t npu_sequence;
uint32_t npu_to_serve;
// Rings about which the host was told something that it may not have seen: a bit each.
static uint32_t npu_told;

void npu_contexts_init(void) {
  for (uint32_t i = 0; i < NPU_RINGS; ++i) npu_contexts[i].number = i;
  npu_ahead_init();
}

void npu_context_corrupt(struct npu_context *context) {
  npu_log(NPU_LOG_ERROR, "ring %u is corrupt", (unsigned)context->number);
  context->ring.corrupt = true;
  context->ring.header->error = NPU_ERROR_FAULT_RING;
  context->attention = kCorruptionRepeats;
  npu_told |= 1u << context->number;
  npu_scheduler_evict(context);
  npu_context_drop(context);
  npu_ahead_forget(context);
  npu_raise_completion();
}

// False when the driver must consume completions first; the repeated interrupt will look again.
static bool npu_context_room(struct npu_context *context) {
  if (npu_ring_has_room(&context->ring)) return true;
  if (npu_ring_collect(&context->ring)) return npu_ring_has_room(&context->ring);
  npu_context_corrupt(context);
  return false;
}

bool npu_context_marked(const struct npu_context *context) {
  const uint32_t entry = context->ring.consumed & (context->ring.entries - 1);
  return (context->cancelled[entry / 8] >> entry % 8 & 1) != 0;
}

static void npu_context_unmark(struct npu_context *context) {
  const uint32_t entry = context->ring.consumed & (context->ring.entries - 1);
  context->cancelled[entry / 8] &= (uint8_t) ~(1u << entry % 8);
}

// The rest is what the job says.
static void npu_context_begin(struct npu_context *context) {
  struct npu_task *task = context->task;
  task->state = NPU_TASK_READY;
  task->sequence = npu_sequence++;
  task->next_word = 0;
  task->blocked_since = 0;
  task->report.preemptions = 0;
  task->report.event_count = 0;
  task->report.engine_cycles = 0;
  task->report.save_cycles = 0;
  task->report.saved_bytes = 0;
  task->report.loads = 0;
  task->report.load_cycles = 0;
  task->report.accepted = npu_now;
  task->report.started = 0;
  task->report.blocked = 0;
  task->busy_at_acceptance = npu_read(NPU_REG_CPU_BUSY_LO);
  npu_tasks |= 1u << context->number;
  npu_log(NPU_LOG_REQUEST, "ring %u: request %u accepted", (unsigned)context->number, (unsigned)task->id);
}

static void npu_context_accept(struct npu_context *context, volatile const struct npu_ring_request *request) {
  if (npu_ahead_task(context) != 0) {
    npu_context_advance(context);
    npu_ring_take(&context->ring);
    return;
  }
  context->task->id = request->id;
  npu_context_begin(context);
  enum npu_error error = NPU_ERROR_OK;
  if (npu_context_marked(context)) {
    npu_context_unmark(context);
    error = NPU_ERROR_JOB_CANCELLED;
  } else {
    error = npu_sizes_load_job(request->argument, context->task);
  }
  npu_ring_take(&context->ring);
  if (error == NPU_ERROR_OK) return;
  npu_context_refuse(context, error);
}

static const char *npu_request_name(uint32_t type) {
  static const char *const names[] = {
      "nop",           "run",   "cancel",           "context_open", "context_close",   "variable_write",
      "variable_read", "power", "persistent_power", "scrub",        "acknowledge_loss"};
  return type < sizeof names / sizeof names[0] ? names[type] : "?";
}

static void npu_context_answer(struct npu_context *context, volatile const struct npu_ring_request *request) {
  uint32_t values[4] = {0};
  enum npu_error code = NPU_ERROR_OK;
  const uint32_t type = request->type;
  npu_ahead_forget(context);  // it would be of a request that was another one when it was read
  if (type != NPU_REQUEST_NOP) {
    code = context->number == 0 ? npu_admin(type, request, values) : NPU_ERROR_FAULT_REQUEST;
    npu_log(NPU_LOG_REQUEST, "ring %u: request %u (%s) ends with code 0x%04x", (unsigned)context->number,
            (unsigned)request->id, npu_request_name(type), (unsigned)code);
  }
  volatile struct npu_ring_completion *completion = npu_ring_completion(&context->ring);
  completion->id = request->id;
  completion->code = code;
  for (uint32_t i = 0; i < 4; ++i) completion->value[i] = values[i];
  npu_ring_take(&context->ring);
  npu_ring_publish(&context->ring);
  npu_told |= 1u << context->number;
}

// Takes requests that were seen before and can be taken now. Many may wait, and the watchdog counts them all.
static void npu_context_serve(struct npu_context *context) {
  struct npu_ring_view *ring = &context->ring;
  while (npu_ring_served(ring) && npu_ring_waiting(ring) != 0 && context->task->state == NPU_TASK_NONE) {
    if (!npu_context_room(context)) return;
    npu_phase(NPU_PHASE_FETCH, context->number);
    volatile const struct npu_ring_request *request = npu_ring_request(ring, 0);
    if (context->number != 0 && request->type == NPU_REQUEST_RUN) {
      npu_context_accept(context, request);
    } else {
      npu_context_answer(context, request);
    }
    if (context->task->state == NPU_TASK_NONE) npu_watchdog_kick();
  }
}

void npu_context_doorbell(struct npu_context *context) {
  if (!npu_ring_served(&context->ring)) return;
  if (npu_ring_look(&context->ring)) {
    npu_context_serve(context);
  } else {
    npu_context_corrupt(context);
  }
}

bool npu_contexts_serve_all(void) {
  uint32_t left = npu_to_serve;
  npu_to_serve = 0;
  for (struct npu_context *context = npu_contexts; left != 0; left >>= 1, ++context) {
    if ((left & 1) != 0) npu_context_serve(context);
  }
  return true;
}

bool npu_contexts_collect(void) {
  bool left = false;
  for (uint32_t i = 0; i < NPU_RINGS; ++i) {
    struct npu_context *context = &npu_contexts[i];
    struct npu_ring_view *ring = &context->ring;
    if (context->attention > 0) {
      --context->attention;
      left = true;
    }
    if (!npu_ring_served(ring) || npu_ring_uncollected(ring) == 0) continue;
    if (!npu_ring_collect(ring)) {
      npu_context_corrupt(context);
      continue;
    }
    left |= npu_ring_uncollected(ring) != 0;
    npu_context_serve(context);
  }
  return left;
}

bool npu_contexts_collected(void) {
  uint32_t left = npu_told;
  for (struct npu_context *context = npu_contexts; left != 0; left >>= 1, ++context) {
    if ((left & 1) == 0) continue;
    struct npu_ring_view *ring = &context->ring;
    if (context->attention > 0) return false;
    // What is corrupt is found again by npu_contexts_collect().
    const bool known = !npu_ring_served(ring) || npu_ring_uncollected(ring) == 0;
    if (!known && (!npu_ring_collect(ring) || npu_ring_uncollected(ring) != 0)) return false;
    if (npu_ring_served(ring) && npu_ring_waiting(ring) != 0) npu_to_serve |= 1u << context->number;
    npu_told &= ~(1u << context->number);
  }
  return true;
}

static void npu_write_fault(volatile struct npu_ring_completion *to, const struct npu_fault *fault) {
  to->fault_command = fault->command;
  to->fault_other = fault->other;
  to->fault_queue = fault->queue;
  to->fault_address = fault->address;
  to->fault_cycle = fault->cycle;
}

static void npu_write_queues(volatile struct npu_ring_completion *to, const struct npu_queues *queues) {
  for (uint32_t i = 0; i < NPU_REG_QUEUE_COUNT; ++i) {
    to->queue_state[i] = queues->state[i];
    to->queue_command[i] = queues->command[i];
  }
}

static void npu_write_task(volatile struct npu_ring_completion *to, const struct npu_task *task) {
  to->id = task->id;
  const uint32_t preemptions = task->report.preemptions < UINT16_MAX ? task->report.preemptions : UINT16_MAX;
  *(volatile npu_word *)&to->preemptions =  // and loads: one access
      preemptions | task->report.loads << 16;
  if (task->report.loads != 0) to->value[0] = task->report.load_cycles;
  to->event_count = task->report.event_count;
  to->engine_cycles = task->report.engine_cycles;
  to->save_cycles = task->report.save_cycles;
  to->saved_bytes = task->report.saved_bytes;
  to->accepted = task->report.accepted;
  to->started = task->report.started;
  to->ended = npu_now;
  to->blocked = task->report.blocked;
}

// All of the completion; npu_context_publish() is missing.
static void npu_context_write(struct npu_context *context, struct npu_task *task, const struct npu_fault *fault,
                              const struct npu_queues *queues) {
  npu_phase(NPU_PHASE_COMPLETE, context->number);
  if (task->blocked_since != 0) task->report.blocked += npu_now - task->blocked_since;
  volatile struct npu_ring_completion *completion = npu_ring_completion(&context->ring);
  npu_write_task(completion, task);
  completion->code = fault == 0 ? NPU_ERROR_OK : fault->code;
  if (fault != 0) npu_write_fault(completion, fault);
  if (queues != 0) npu_write_queues(completion, queues);
  completion->firmware_cycles = npu_read(NPU_REG_CPU_BUSY_LO) - task->busy_at_acceptance;
  npu_log(NPU_LOG_REQUEST, "ring %u: request %u ended", (unsigned)context->number, (unsigned)task->id);
}

static void npu_context_publish(struct npu_context *context) {
  npu_ring_publish(&context->ring);
  npu_told |= 1u << context->number;
}

void npu_context_complete(struct npu_context *context, const struct npu_fault *fault, const struct npu_queues *queues) {
  npu_context_write(context, context->task, fault, queues);
  npu_context_drop(context);
  npu_context_publish(context);
}

__attribute__((cold, noinline)) static void npu_context_end_with(struct npu_context *context, enum npu_error code,
                                                                 uint32_t other) {
  const struct npu_fault fault = {.code = code, .other = other, .queue = NPU_QUEUE_SEQUENCER};
  npu_log(NPU_LOG_EVENT, "ring %u: request %u ended with code 0x%04x", (unsigned)context->number,
          (unsigned)context->task->id, (unsigned)code);
  npu_context_complete(context, &fault, 0);
  npu_watchdog_kick();  // many may fail one after the other
}

void npu_context_fail(struct npu_context *context, enum npu_error code) { npu_context_end_with(context, code, 0); }

static bool npu_has_number(enum npu_error code) {
  return code == NPU_ERROR_SIZE_OUT_OF_BOUNDS || code == NPU_ERROR_SIZE_MISMATCH || code == NPU_ERROR_FAULT_PATCH;
}

__attribute__((cold, noinline)) void npu_context_refuse(struct npu_context *context, enum npu_error code) {
  npu_context_end_with(context, code, npu_has_number(code) ? context->task->sizes.fault : 0);
}

void npu_context_drop(struct npu_context *context) {
  context->task->state = NPU_TASK_NONE;
  npu_tasks &= ~(1u << context->number);
  if (npu_ring_waiting(&context->ring) != 0) npu_to_serve |= 1u << context->number;
}

struct npu_task *npu_context_advance(struct npu_context *context) {
  struct npu_task *before = npu_ahead_take(context);
  npu_context_begin(context);
  return before;
}

void npu_context_end(struct npu_context *context, struct npu_task *ended) {
  npu_ring_take(&context->ring);
  npu_context_write(context, ended, 0, 0);
  ended->state = NPU_TASK_NONE;
  npu_context_publish(context);
}

void npu_context_close(struct npu_context *context) {
  npu_scheduler_evict(context);
  npu_context_drop(context);
  npu_ahead_forget(context);
  npu_ring_close(&context->ring);
  context->attention = 0;
}

void npu_context_cancel(struct npu_context *context, uint32_t id) {
  struct npu_ring_view *ring = &context->ring;
  if (!npu_ring_served(ring)) return;
  if (context->task->state != NPU_TASK_NONE && context->task->id == id) {
    npu_scheduler_evict(context);
    npu_context_fail(context, NPU_ERROR_JOB_CANCELLED);
    return;
  }
  if (!npu_ring_look(ring)) {
    npu_context_corrupt(context);
    return;
  }
  for (uint32_t ahead = 0; ahead < npu_ring_waiting(ring); ++ahead) {
    volatile const struct npu_ring_request *request = npu_ring_request(ring, ahead);
    if (request->id != id || request->type != NPU_REQUEST_RUN) continue;
    const uint32_t entry = (ring->consumed + ahead) & (ring->entries - 1);
    context->cancelled[entry / 8] |= (uint8_t)(1u << entry % 8);
    if (ahead == 0) npu_ahead_forget(context);
    return;
  }
}
