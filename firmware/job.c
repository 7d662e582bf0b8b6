// SPDX-License-Identifier: Apache-2.0
#include "firmware/job.h"

#include <stddef.h>

#include "firmware/device.h"
#include "firmware/memory.h"
#include "firmware/sizes.h"

enum { kCounterBytes = NPU_REG_COUNTER_COUNT * 8 };

static uint32_t npu_readings;

bool npu_job_shared(uint64_t address, uint64_t bytes) {
  return address >= npu_device.shared_base && npu_within(address, bytes, npu_device.shared_end);
}

// The table may be long: it lies where there is room, as the stream does, and what it says is checked at each use.
bool npu_job_visible(uint64_t address, uint64_t bytes) {
  return npu_within(address, bytes, NPU_CPU_DRAM_BYTES) && npu_within(address, bytes, npu_device.dram_bytes);
}

static bool npu_in_dram(uint64_t address, uint64_t bytes) { return npu_within(address, bytes, npu_device.dram_bytes); }

bool npu_grantable(uint64_t address, uint64_t bytes) {
  if (!npu_in_dram(address, bytes)) return false;
  return bytes == 0 || address >= npu_device.shared_end || address + bytes <= npu_device.shared_base;
}

// A region is memory of its own, or nothing. Other spaces would show a job what belongs to others.
static bool npu_region_allowed(const struct npu_job *job, uint32_t region) {
  const uint32_t flags = job->region_flags[region];
  const uint32_t space = (flags & NPU_REG_REGION_FLAGS_SPACE_MASK) >> NPU_REG_REGION_FLAGS_SPACE_LSB;
  if (space == NPU_SPACE_NONE) return true;
  return space == NPU_SPACE_DRAM && npu_grantable(job->region_base[region], job->region_limit[region]);
}

static bool npu_regions_allowed(const struct npu_job *job) {
  for (uint32_t i = NPU_REGION_CONSTANTS; i <= NPU_REGION_SAVE; ++i) {
    if (!npu_region_allowed(job, i)) return false;
  }
  return true;
}

static bool npu_buffers_allowed(const struct npu_job *job) {
  if (job->counters % 8 != 0 || !npu_in_dram(job->counters, kCounterBytes)) return false;
  if (job->event_capacity == 0) return true;
  return job->events % 8 == 0 && npu_grantable(job->events, (uint64_t)job->event_capacity * sizeof(struct npu_event));
}

static bool npu_segments_allowed(const struct npu_job *job) {
  if (job->segment_count == 0) return true;
  return job->segments % 4 == 0 &&
         npu_job_visible(job->segments, (uint64_t)job->segment_count * sizeof(struct npu_segment));
}

static bool npu_stream_allowed(const struct npu_job *job, uint32_t word, uint32_t words) {
  return word % 16 == 0 && word >= job->command_words && words > 0 &&
         npu_in_dram(job->commands, ((uint64_t)word + words) * 4);
}

static bool npu_scratchpad_allowed(const struct npu_job *job) {
  const uint32_t own = npu_job_own(job), bytes = npu_job_resident_bytes(job), offset = npu_job_resident_offset(job);
  if (own % NPU_RESIDENT_UNIT != 0 || own > npu_device.spm_bytes) return false;
  if (bytes == 0) return true;
  return own != 0 && offset >= own && offset % NPU_RESIDENT_UNIT == 0 && npu_job_resident_id(job) != 0 &&
         npu_within(offset, bytes, npu_device.spm_bytes) && npu_stream_allowed(job, job->load_word, job->load_words);
}

// What a job is not compared in with the one before has a number.
static bool npu_size_table_allowed(const struct npu_job *job) {
  return job->size_table == 0 || (npu_sized(job) && npu_job_resident_id(job) != 0);
}

static bool npu_job_allowed(const struct npu_job *job) {
  return job->commands % 64 == 0 && npu_in_dram(job->commands, (uint64_t)job->command_words * 4) &&
         npu_buffers_allowed(job) && npu_segments_allowed(job) && npu_regions_allowed(job) &&
         npu_scratchpad_allowed(job) && npu_size_table_allowed(job);
}

enum { kJobWords = offsetof(struct npu_job, load_word) / 4, kEpochWord = offsetof(struct npu_job, epoch) / 4 };

// How many words at the start of both are the same, but for the epoch. Unrolled, since it is most of what a job costs.
static uint32_t npu_job_same(volatile const npu_word *from, const npu_word *known) {
  uint32_t i = 0;
#pragma GCC unroll 64
  for (; i < kJobWords; ++i) {
    if (from[i] != known[i] && i != kEpochWord) break;
  }
  return i;
}

// Most jobs are the one before again. What was read and checked then holds on, whatever memory says next.
enum npu_error npu_job_load(uint64_t address, struct npu_task *task) {
  if (address % 64 != 0 || !npu_job_shared(address, sizeof(struct npu_job))) return NPU_ERROR_FAULT_REQUEST;
  volatile const npu_word *from = npu_dram(npu_low(address));
  npu_word *to = (npu_word *)&task->job;
  const uint32_t same = task->reading == 0 ? 0 : npu_job_same(from, to);
  if (same < kJobWords) {
    task->reading = 0;
    for (uint32_t i = same; i < kJobWords; ++i) to[i] = from[i];
    // Of another job with the same number they would be the same.
    task->job.load_word = ((volatile const struct npu_job *)from)->load_word;
    task->job.load_words = ((volatile const struct npu_job *)from)->load_words;
    task->job.size_table = ((volatile const struct npu_job *)from)->size_table;
    task->job.sizes = ((volatile const struct npu_job *)from)->sizes;
    if (!npu_job_allowed(&task->job)) return NPU_ERROR_FAULT_REQUEST;
    task->reading = ++npu_readings;
  }
  to[kEpochWord] = from[kEpochWord];
  return NPU_ERROR_OK;
}

enum npu_error npu_job_load_segment(struct npu_task *task, uint32_t index) {
  if (index >= task->job.segment_count) return NPU_ERROR_FAULT_REQUEST;
  volatile const struct npu_segment *from = npu_dram(npu_low(task->job.segments) + index * sizeof(struct npu_segment));
  struct npu_segment *segment = &task->segment;
  segment->yield_word = from->yield_word;
  segment->live_bytes = from->live_bytes;
  segment->save_word = from->save_word;
  segment->save_words = from->save_words;
  segment->restore_word = from->restore_word;
  segment->restore_words = from->restore_words;
  if (segment->yield_word != task->next_word) return NPU_ERROR_FAULT_REQUEST;
  if (segment->save_words == 0 && segment->restore_words == 0) return NPU_ERROR_OK;
  const bool allowed = npu_stream_allowed(&task->job, segment->save_word, segment->save_words) &&
                       npu_stream_allowed(&task->job, segment->restore_word, segment->restore_words);
  return allowed ? NPU_ERROR_OK : NPU_ERROR_FAULT_REQUEST;
}
