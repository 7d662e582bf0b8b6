// SPDX-License-Identifier: Apache-2.0
#include "firmware/dispatch.h"

#include "firmware/core.h"
#include "firmware/memory.h"
#include "firmware/timer.h"

static void npu_dispatch_region(const struct npu_job *job, uint32_t region) {
  const uint32_t flags = job->region_flags[region];
  if (flags == 0) {
    npu_core_set_region(region, 0, 0, 0);
  } else {
    npu_core_set_region(region, job->region_base[region], job->region_limit[region], flags);
  }
}

static void npu_dispatch_regions(const struct npu_job *job, bool with_save) {
  for (uint32_t i = NPU_REGION_CONSTANTS; i < NPU_REGION_SAVE; ++i) npu_dispatch_region(job, i);
  if (with_save) {
    npu_dispatch_region(job, NPU_REGION_SAVE);
  } else {
    npu_core_set_region(NPU_REGION_SAVE, 0, 0, 0);
  }
}

// What the job's own stream reports, goes on behind what its earlier parts have; a stream that saves or restores
// reports nothing.
static void npu_dispatch_reports(const struct npu_task *task, bool wanted) {
  const struct npu_job *job = &task->job;
  const uint32_t had = task->report.event_count;
  const uint32_t before = had < job->event_capacity ? had : job->event_capacity;
  npu_core_set(NPU_REG_EVENT_CAPACITY, wanted ? job->event_capacity - before : 0);
  if (wanted && job->event_capacity != 0) {
    npu_core_set_pair(NPU_REG_EVENT_BASE_LO, job->events + (uint64_t)before * sizeof(struct npu_event));
  }
  npu_core_set_pair(NPU_REG_CYCLE_BASE_LO, wanted ? task->report.engine_cycles : 0);
  npu_core_set_pair(NPU_REG_COUNTER_BASE_LO, wanted ? job->counters : 0);
}

static void npu_dispatch_registers(const struct npu_task *task, const struct npu_stream *stream) {
  const bool main = stream->kind == NPU_STREAM_MAIN;
  npu_core_set_pair(NPU_REG_COMMAND_BASE_LO, stream->commands);
  npu_core_set(NPU_REG_COMMAND_WORDS, stream->words);
  npu_core_set(NPU_REG_COMMAND_START, stream->start);
  npu_core_set(NPU_REG_JOB_OWNER, stream->owner);
  npu_core_set(NPU_REG_JOB_FLAGS, stream->keep_scratchpad ? NPU_REG_JOB_FLAGS_KEEP_SCRATCHPAD_MASK : 0);
  npu_dispatch_reports(task, main);
  npu_dispatch_regions(&task->job, !main);
}

// Of what the registers were written last, if that was a job from its start: all that they hold but the epoch follows
// from the contents of the job, which its number stands for, and from the owner. A reset of the core clears them.
static struct { uint32_t reading, owner, resets; } npu_written;

static bool npu_from_start(const struct npu_task *task, const struct npu_stream *stream) {
  return stream->kind == NPU_STREAM_MAIN && stream->start == 0 && !stream->keep_scratchpad &&
         task->report.engine_cycles == 0 && task->report.event_count == 0;
}

void npu_dispatch_prepare(const struct npu_task *task, const struct npu_stream *stream) {
  const bool from_start = npu_from_start(task, stream);
  const bool written = from_start && npu_written.reading == task->reading && npu_written.owner == stream->owner &&
                       npu_written.resets == npu_core_resets;
  if (!written) {
    npu_dispatch_registers(task, stream);
    npu_written.reading = from_start ? task->reading : 0;
    npu_written.owner = stream->owner;
    npu_written.resets = npu_core_resets;
  }
  npu_core_set(NPU_REG_JOB_EPOCH, task->job.epoch);
}

void npu_dispatch(const struct npu_task *task, const struct npu_stream *stream) {
  npu_dispatch_prepare(task, stream);
  npu_time_advance();
  npu_write(NPU_REG_CONTROL, NPU_REG_CONTROL_START_MASK);
}
