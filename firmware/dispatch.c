// SPDX-License-Identifier: Apache-2.0
#include "firmware/dispatch.h"

#include "firmware/core.h"
#include "firmware/device.h"
#include "firmware/job.h"
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

// The region `save` is there for what saves and restores, constants that stay for the others; only what loads them may
// write them.
static void npu_dispatch_regions(const struct npu_job *job, enum npu_stream_kind kind) {
  const uint32_t own = npu_job_own(job);
  npu_core_set_scratchpad(NPU_REGION_SCRATCHPAD, 0, own == 0 ? npu_device.spm_bytes : own, true);
  for (uint32_t i = NPU_REGION_CONSTANTS; i < NPU_REGION_SAVE; ++i) npu_dispatch_region(job, i);
  const bool saves = kind == NPU_STREAM_SAVE || kind == NPU_STREAM_RESTORE;
  if (saves) {
    npu_dispatch_region(job, NPU_REGION_SAVE);
  } else {
    npu_core_set_region(NPU_REGION_SAVE, 0, 0, 0);
  }
  if (saves || npu_job_resident_bytes(job) == 0) {
    npu_core_set_region(NPU_REGION_RESIDENT, 0, 0, 0);
  } else {
    npu_core_set_scratchpad(NPU_REGION_RESIDENT, npu_job_resident_offset(job), npu_job_resident_bytes(job),
                            kind == NPU_STREAM_LOAD);
  }
}

// What the job's own stream reports, goes on behind what its earlier parts have; another stream reports
// nothing.
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
  npu_dispatch_regions(&task->job, stream->kind);
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
