// SPDX-License-Identifier: Apache-2.0
#include "firmware/job.h"

#include "firmware/device.h"
#include "firmware/memory.h"

enum { kCounterBytes = NPU_REG_COUNTER_COUNT * 8 };

static bool npu_in_shared(uint64_t address, uint64_t bytes) {
  return address >= npu_device.shared_base && npu_within(address, bytes, npu_device.shared_end);
}

// The table may be long: it lies where there is room, as the stream does, and what it says is checked at each use.
static bool npu_visible(uint64_t address, uint64_t bytes) {
  return npu_within(address, bytes, NPU_CPU_DRAM_BYTES) && npu_within(address, bytes, npu_device.dram_bytes);
}

static bool npu_in_dram(uint64_t address, uint64_t bytes) { return npu_within(address, bytes, npu_device.dram_bytes); }

bool npu_grantable(uint64_t address, uint64_t bytes) {
  if (!npu_in_dram(address, bytes)) return false;
  return bytes == 0 || address >= npu_device.shared_end || address + bytes <= npu_device.shared_base;
}

// A region is memory of its own, or nothing. Other spaces would show a job what belongs to others.
static bool npu_region_allowed(const struct npu_mapping *region) {
  const uint32_t space = (region->flags & NPU_REG_REGION_FLAGS_SPACE_MASK) >> NPU_REG_REGION_FLAGS_SPACE_LSB;
  if (space == NPU_SPACE_NONE) return true;
  return space == NPU_SPACE_DRAM && npu_grantable(region->base, region->limit);
}

static bool npu_job_read_regions(volatile const struct npu_job *job, struct npu_task *task) {
  for (uint32_t i = NPU_REGION_CONSTANTS; i <= NPU_REGION_SAVE; ++i) {
    struct npu_mapping *region = &task->regions[i];
    region->flags = job->region_flags[i];
    if (region->flags == 0) {
      region->base = 0;
      region->limit = 0;
      continue;
    }
    region->base = job->region_base[i];
    region->limit = job->region_limit[i];
    if (!npu_region_allowed(region)) return false;
  }
  return true;
}

static bool npu_job_read_buffers(volatile const struct npu_job *job, struct npu_task *task) {
  task->event_capacity = job->event_capacity;
  task->events = task->event_capacity == 0 ? 0 : job->events;
  task->counters = job->counters;
  return task->events % 8 == 0 &&
         npu_grantable(task->events, (uint64_t)task->event_capacity * sizeof(struct npu_event)) &&
         task->counters % 8 == 0 && npu_in_dram(task->counters, kCounterBytes);
}

static bool npu_job_read_segments(volatile const struct npu_job *job, struct npu_task *task) {
  task->segment_count = job->segment_count;
  if (task->segment_count == 0) return true;
  const uint64_t table = job->segments;
  task->segments = npu_low(table);
  return table % 4 == 0 && npu_visible(table, (uint64_t)task->segment_count * sizeof(struct npu_segment));
}

enum npu_error npu_job_load(uint64_t address, struct npu_task *task) {
  if (address % 64 != 0 || !npu_in_shared(address, sizeof(struct npu_job))) return NPU_ERROR_FAULT_REQUEST;
  volatile const struct npu_job *job = npu_dram(npu_low(address));
  task->commands = job->commands;
  task->command_words = job->command_words;
  task->epoch = job->epoch;
  task->cycle_limit = job->cycle_limit;
  task->ready_at = job->not_before;
  const bool allowed = task->commands % 64 == 0 && npu_in_dram(task->commands, (uint64_t)task->command_words * 4) &&
                       npu_job_read_buffers(job, task) && npu_job_read_segments(job, task) &&
                       npu_job_read_regions(job, task);
  return allowed ? NPU_ERROR_OK : NPU_ERROR_FAULT_REQUEST;
}

static bool npu_stream_allowed(const struct npu_task *task, uint32_t word, uint32_t words) {
  return word % 16 == 0 && word >= task->command_words && words > 0 &&
         npu_in_dram(task->commands, ((uint64_t)word + words) * 4);
}

enum npu_error npu_job_load_segment(struct npu_task *task, uint32_t index) {
  if (index >= task->segment_count) return NPU_ERROR_FAULT_REQUEST;
  volatile const struct npu_segment *from = npu_dram(task->segments + index * sizeof(struct npu_segment));
  struct npu_segment *segment = &task->segment;
  segment->yield_word = from->yield_word;
  segment->live_bytes = from->live_bytes;
  segment->save_word = from->save_word;
  segment->save_words = from->save_words;
  segment->restore_word = from->restore_word;
  segment->restore_words = from->restore_words;
  if (segment->yield_word != task->next_word) return NPU_ERROR_FAULT_REQUEST;
  if (segment->save_words == 0 && segment->restore_words == 0) return NPU_ERROR_OK;
  const bool allowed = npu_stream_allowed(task, segment->save_word, segment->save_words) &&
                       npu_stream_allowed(task, segment->restore_word, segment->restore_words);
  return allowed ? NPU_ERROR_OK : NPU_ERROR_FAULT_REQUEST;
}
