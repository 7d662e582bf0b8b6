// SPDX-License-Identifier: Apache-2.0
#include "firmware/scheduler.h"

#include "firmware/ahead.h"
#include "firmware/area.h"
#include "firmware/dispatch.h"
#include "firmware/fault.h"
#include "firmware/job.h"
#include "firmware/log.h"
#include "firmware/memory.h"
#include "firmware/phase.h"
#include "firmware/sizes.h"
#include "firmware/timer.h"

enum { kGraceCycles = 1000 };

// What the core works on; null: nothing.
static struct npu_context *npu_active;
static enum npu_stream_kind npu_kind;
static bool npu_preempt_asked;
static uint64_t npu_stream_started, npu_stream_deadline = NPU_NEVER;

// Stopped, and what is live is still in the scratchpad.
static struct npu_context *npu_resident;

// Whose job starts when the active one ends well, unless something happens before: its registers are written. The
// active context itself: the job that it has ahead. Null: not decided.
static struct npu_context *npu_next;

static bool npu_begun(const struct npu_task *task) { return task->state != NPU_TASK_READY; }

// Whether a goes before b.
static bool npu_before(const struct npu_context *a, const struct npu_context *b) {
  if (a->priority != b->priority) return a->priority > b->priority;
  if (npu_begun(a->task) != npu_begun(b->task)) return npu_begun(a->task);
  return (int32_t)(a->task->sequence - b->task->sequence) < 0;
}

// The best of the tasks that may run now, but for those of `except`; null: there is none.
static struct npu_context *npu_choose(const struct npu_context *except) {
  struct npu_context *best = 0;
  uint32_t left = npu_tasks;
  for (struct npu_context *context = npu_contexts; left != 0; left >>= 1, ++context) {
    if ((left & 1) == 0 || context == except || context->task->job.not_before > npu_now) continue;
    if (best == 0 || npu_before(context, best)) best = context;
  }
  return best;
}

static uint64_t npu_later(uint64_t a, uint64_t b) { return a > b ? a : b; }

// Keeps the time that a ready task waits because the core works on one of lower priority.
static void npu_account_blocked(struct npu_context *context) {
  struct npu_task *task = context->task;
  const bool blocked = npu_active != 0 && npu_active != context && npu_active->priority < context->priority &&
                       task->job.not_before <= npu_now;
  if (blocked && task->blocked_since == 0) {
    task->blocked_since = npu_later(npu_later(task->report.accepted, task->job.not_before), npu_stream_started);
  } else if (!blocked && task->blocked_since != 0) {
    task->report.blocked += npu_now - task->blocked_since;
    task->blocked_since = 0;
  }
}

static void npu_account_all_blocked(void) {
  if ((npu_tasks & (npu_tasks - 1)) == 0 && (npu_active == 0 || npu_active->task->blocked_since == 0)) return;
  uint32_t left = npu_tasks;
  for (struct npu_context *context = npu_contexts; left != 0; left >>= 1, ++context) {
    if ((left & 1) != 0) npu_account_blocked(context);
  }
}

static uint64_t npu_deadline(const struct npu_task *task, enum npu_stream_kind kind) {
  if (task->job.cycle_limit == 0) return NPU_NEVER;
  uint64_t left = task->job.cycle_limit;
  if (kind == NPU_STREAM_MAIN) left = task->report.engine_cycles < left ? left - task->report.engine_cycles : 0;
  const uint64_t room = NPU_NEVER - npu_now;
  return left >= room - kGraceCycles ? NPU_NEVER : npu_now + left + kGraceCycles;
}

static void npu_describe(struct npu_stream *stream, const struct npu_context *context, const struct npu_task *task,
                         enum npu_stream_kind kind, uint32_t word, uint32_t words, bool keep_scratchpad) {
  const bool main = kind == NPU_STREAM_MAIN;
  stream->kind = kind;
  stream->owner = context->owner;
  stream->commands = main ? task->job.commands : task->job.commands + (uint64_t)word * 4;
  stream->start = main ? word : 0;
  stream->words = words;
  stream->keep_scratchpad = keep_scratchpad;
}

static void npu_start(struct npu_context *context, enum npu_stream_kind kind, uint32_t word, uint32_t words,
                      bool keep_scratchpad) {
  struct npu_task *task = context->task;
  if (!npu_core_awake() && !npu_core_wake()) {
    npu_context_fail(context, NPU_ERROR_FAULT_POWER);
    return;
  }
  struct npu_stream stream;
  npu_describe(&stream, context, task, kind, word, words, keep_scratchpad);
  npu_area_use(&task->job, kind == NPU_STREAM_LOAD);
  npu_active = context;
  npu_kind = kind;
  npu_preempt_asked = false;
  task->state = NPU_TASK_ACTIVE;
  npu_dispatch(task, &stream);
  npu_stream_started = npu_now;
  npu_stream_deadline = npu_deadline(task, kind);
  if (kind != NPU_STREAM_MAIN || task->report.started != 0) return;
  task->report.started = npu_now;
  if (npu_log_limit >= NPU_LOG_REQUEST) npu_sizes_tell(task);
}

// The job's own stream; before that its constants, if they are not in the scratchpad any more.
static void npu_start_main(struct npu_context *context, bool keep_scratchpad) {
  struct npu_task *task = context->task;
  if (npu_area_ready(&task->job, context->owner)) {
    npu_start(context, NPU_STREAM_MAIN, task->next_word, task->job.command_words, keep_scratchpad);
    return;
  }
  npu_log(NPU_LOG_REQUEST, "ring %u: loads %u bytes of constants of request %u", (unsigned)context->number,
          (unsigned)npu_job_resident_bytes(&task->job), (unsigned)task->id);
  npu_start(context, NPU_STREAM_LOAD, task->job.load_word, task->job.load_words, keep_scratchpad);
}

// Of a job with sizes that starts or goes on. False: it has ended, refused.
NPU_SIZES_RARE static bool npu_write_stream(struct npu_context *context) {
  struct npu_task *task = context->task;
  // One that was interrupted goes on in the stream that it started with.
  if (npu_begun(task) || npu_sizes_ready(task)) return true;
  const enum npu_error error = npu_sizes_apply(task);
  if (error != NPU_ERROR_OK) npu_context_refuse(context, error);
  return error == NPU_ERROR_OK;
}

static void npu_run(struct npu_context *context) {
  struct npu_task *task = context->task;
  const bool saved = task->state == NPU_TASK_SAVED && task->segment.restore_words != 0;
  if (saved) {
    npu_phase(NPU_PHASE_RESUME, context->number);
    npu_log(NPU_LOG_REQUEST, "ring %u: restores %u bytes of request %u", (unsigned)context->number,
            (unsigned)task->segment.live_bytes, (unsigned)task->id);
    npu_start(context, NPU_STREAM_RESTORE, task->segment.restore_word, task->segment.restore_words, false);
    return;
  }
  npu_phase(NPU_PHASE_DISPATCH, context->number);
  if (npu_sized(&task->job) && !npu_write_stream(context)) return;
  // Nothing is live in a job that starts, or whose yield says so.
  npu_start_main(context, task->state == NPU_TASK_STOPPED);
}

static void npu_save_resident(void) {
  struct npu_context *context = npu_resident;
  npu_resident = 0;
  npu_phase(NPU_PHASE_PREEMPT, context->number);
  npu_start(context, NPU_STREAM_SAVE, context->task->segment.save_word, context->task->segment.save_words, true);
}

static void npu_fill_core(void) {
  while (npu_active == 0) {
    struct npu_context *next = npu_choose(0);
    if (next == 0) return;
    if (npu_resident != 0 && npu_resident != next) {
      npu_save_resident();
    } else {
      npu_resident = 0;
      npu_run(next);
    }
  }
}

static void npu_ask_preemption(void) {
  if (npu_kind != NPU_STREAM_MAIN || npu_preempt_asked || npu_active->task->job.segment_count == 0) return;
  const struct npu_context *next = npu_choose(0);
  if (next == npu_active || next == 0) return;
  npu_phase(NPU_PHASE_PREEMPT, npu_active->number);
  npu_preempt_asked = true;
  npu_core_preempt();
  npu_log(NPU_LOG_REQUEST, "ring %u: asked to stop for ring %u", (unsigned)npu_active->number, (unsigned)next->number);
}

void npu_schedule(void) {
  if (npu_active == 0) npu_fill_core();
  if (npu_active != 0) npu_ask_preemption();
  npu_account_all_blocked();
}

// Nothing of it is in a scratchpad or in the region `save`.
static bool npu_starts_plainly(const struct npu_task *task) {
  return task->state == NPU_TASK_READY || (task->state == NPU_TASK_SAVED && task->segment.restore_words == 0);
}

void npu_scheduler_prepare(void) {
  npu_next = 0;
  if (npu_active == 0 || npu_kind != NPU_STREAM_MAIN || npu_preempt_asked) return;
  npu_ahead_read(npu_active);
  struct npu_task *ahead = npu_ahead_task(npu_active);
  // When it is due is looked at in its turn.
  if (ahead != 0 && ahead->job.not_before > npu_now) return;
  struct npu_context *next = npu_choose(npu_active);
  // What the ring has behind its job could not be read: it is looked at in its turn, before others of lower priority.
  if (ahead == 0 && next != 0 && npu_ring_waiting(&npu_active->ring) != 0 && next->priority < npu_active->priority)
    return;
  struct npu_task *task = next == 0 ? 0 : next->task;
  uint32_t start = 0;
  // Accepted later than all others, it goes before those of lower priority only.
  if (ahead != 0 && (next == 0 || npu_active->priority > next->priority)) {
    next = npu_active;
    task = ahead;
  } else if (next == 0 || !npu_starts_plainly(task)) {
    return;
  } else {
    start = task->next_word;
  }
  // No stream is written while another runs.
  if (!npu_area_ready(&task->job, next->owner) || !npu_sizes_ready(task)) return;
  struct npu_stream stream;
  npu_describe(&stream, next, task, NPU_STREAM_MAIN, start, task->job.command_words, false);
  npu_dispatch_prepare(task, &stream);
  npu_next = next;
}

// The active job has ended well: starts the one that was prepared before it tells of the end.
static void npu_hand_over(const struct npu_core_result *result) {
  struct npu_context *ended = npu_active, *next = npu_next;
  struct npu_task *task = ended->task;
  // It ended before the next one starts, though it is told of later.
  const uint64_t end_seen = npu_now;
  if (next == ended) npu_context_advance(ended);
  // As npu_run() does with one that starts plainly, and whose constants are there.
  npu_phase(NPU_PHASE_DISPATCH, next->number);
  npu_start(next, NPU_STREAM_MAIN, next->task->next_word, next->task->job.command_words, false);
  const uint64_t started = npu_now;
  npu_now = end_seen;
  task->report.engine_cycles += result->cycles;
  task->report.event_count += result->events;
  if (next == ended) {
    npu_context_end(ended, task);
  } else {
    npu_context_complete(ended, 0, 0);
  }
  npu_now = started;
}

static void npu_stopped(struct npu_context *context, const struct npu_core_result *result) {
  struct npu_task *task = context->task;
  ++task->report.preemptions;
  task->next_word = result->next_word;
  const enum npu_error error = npu_job_load_segment(task, result->segment);
  if (error != NPU_ERROR_OK) {
    npu_context_fail(context, error);
    return;
  }
  npu_log(NPU_LOG_REQUEST, "ring %u: request %u stopped at word %u, %u bytes live", (unsigned)context->number,
          (unsigned)task->id, (unsigned)task->next_word, (unsigned)task->segment.live_bytes);
  if (task->segment.save_words == 0) {
    task->state = NPU_TASK_SAVED;
  } else {
    task->state = NPU_TASK_STOPPED;
    npu_resident = context;
  }
}

static void npu_main_ended(struct npu_context *context, const struct npu_core_result *result) {
  struct npu_task *task = context->task;
  task->report.engine_cycles += result->cycles;
  task->report.event_count += result->events;
  if (result->end == NPU_CORE_PREEMPTED) {
    npu_stopped(context, result);
  } else {
    npu_context_complete(context, 0, 0);
  }
}

// A stream that saves, restores or loads has ended.
static void npu_moved(struct npu_context *context, const struct npu_core_result *result) {
  struct npu_task *task = context->task;
  if (result->end != NPU_CORE_DONE) {
    task->report.save_cycles += result->cycles;
    npu_context_fail(context, NPU_ERROR_FAULT_REQUEST);
    return;
  }
  if (npu_kind == NPU_STREAM_LOAD) {
    if (task->report.loads < UINT16_MAX) ++task->report.loads;
    task->report.load_cycles += (uint32_t)result->cycles;
    npu_area_loaded(&task->job, context->owner);
    npu_start(context, NPU_STREAM_MAIN, task->next_word, task->job.command_words, true);
    return;
  }
  task->report.save_cycles += result->cycles;
  task->report.saved_bytes += task->segment.live_bytes;
  task->state = NPU_TASK_SAVED;
  if (npu_kind == NPU_STREAM_SAVE) return;
  // What was brought back is used before anything overwrites it: the job runs to its next yield even if a more urgent
  // one has come meanwhile. So a restore is never repeated, and each is followed by a segment of progress.
  npu_phase(NPU_PHASE_RESUME, context->number);
  npu_start_main(context, true);
}

void npu_scheduler_core_event(bool alone) {
  const struct npu_core_result result = npu_core_take_result();
  struct npu_context *context = npu_active;
  if (result.end == NPU_CORE_BUSY || context == 0) return;
  if (alone && npu_next != 0 && result.end == NPU_CORE_DONE && npu_core_awake() &&
      (npu_next != context || npu_ahead_task(context) != 0)) {
    npu_hand_over(&result);
    return;
  }
  npu_active = 0;
  npu_stream_deadline = NPU_NEVER;
  if (result.end == NPU_CORE_FAULT) {
    if (npu_kind == NPU_STREAM_MAIN) context->task->report.event_count += result.events;
    npu_fault_end(context, npu_kind == NPU_STREAM_MAIN, result.cycles);
  } else if (npu_kind == NPU_STREAM_MAIN) {
    npu_main_ended(context, &result);
  } else {
    npu_moved(context, &result);
  }
}

void npu_scheduler_check_time(void) {
  // A stream that has just ended has raised its interrupt, which is answered first.
  if (npu_now < npu_stream_deadline || !npu_core_running()) return;
  struct npu_context *context = npu_active;
  npu_active = 0;
  npu_stream_deadline = NPU_NEVER;
  const bool main = npu_kind == NPU_STREAM_MAIN;
  if (main) context->task->report.event_count += npu_core_events();
  npu_fault_timeout(context, main, npu_now - npu_stream_started);
}

void npu_scheduler_evict(struct npu_context *context) {
  if (npu_resident == context) npu_resident = 0;
  if (npu_active != context) return;
  npu_active = 0;
  npu_stream_deadline = NPU_NEVER;
  npu_core_reset();
}

uint64_t npu_scheduler_next(void) {
  uint64_t next = npu_stream_deadline;
  uint32_t left = npu_tasks;
  for (struct npu_context *context = npu_contexts; left != 0; left >>= 1, ++context) {
    const uint64_t ready_at = context->task->job.not_before;
    if ((left & 1) != 0 && ready_at > npu_now && ready_at < next) next = ready_at;
  }
  return next;
}
