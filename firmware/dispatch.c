// SPDX-License-Identifier: Apache-2.0
#include "firmware/dispatch.h"

#include "firmware/core.h"
#include "firmware/memory.h"
#include "firmware/timer.h"

static void npu_dispatch_regions(const struct npu_task *job, bool with_save) {
  static const struct npu_mapping none;
  for (uint32_t i = NPU_REGION_CONSTANTS; i < NPU_REGION_SAVE; ++i) npu_core_set_region(i, &job->regions[i]);
  npu_core_set_region(NPU_REGION_SAVE, with_save ? &job->regions[NPU_REGION_SAVE] : &none);
}

// What the job's own stream reports, goes on behind what its earlier parts have; a stream that saves or restores
// reports nothing.
static void npu_dispatch_reports(const struct npu_task *job, bool wanted) {
  const uint32_t before = job->report.event_count < job->event_capacity ? job->report.event_count : job->event_capacity;
  npu_core_set(NPU_REG_EVENT_CAPACITY, wanted ? job->event_capacity - before : 0);
  if (wanted) npu_core_set_pair(NPU_REG_EVENT_BASE_LO, job->events + (uint64_t)before * sizeof(struct npu_event));
  npu_core_set_pair(NPU_REG_CYCLE_BASE_LO, wanted ? job->report.engine_cycles : 0);
  npu_core_set_pair(NPU_REG_COUNTER_BASE_LO, wanted ? job->counters : 0);
}

void npu_dispatch(const struct npu_task *job, const struct npu_stream *stream) {
  const bool main = stream->kind == NPU_STREAM_MAIN;
  npu_core_set_pair(NPU_REG_COMMAND_BASE_LO, stream->commands);
  npu_core_set(NPU_REG_COMMAND_WORDS, stream->words);
  npu_core_set(NPU_REG_COMMAND_START, stream->start);
  npu_core_set(NPU_REG_JOB_OWNER, stream->owner);
  npu_core_set(NPU_REG_JOB_EPOCH, job->epoch);
  npu_core_set(NPU_REG_JOB_FLAGS, stream->keep_scratchpad ? NPU_REG_JOB_FLAGS_KEEP_SCRATCHPAD_MASK : 0);
  npu_dispatch_reports(job, main);
  npu_dispatch_regions(job, !main);
  npu_time_update();
  npu_write(NPU_REG_CONTROL, NPU_REG_CONTROL_START_MASK);
}
