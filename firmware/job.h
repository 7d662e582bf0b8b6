// SPDX-License-Identifier: Apache-2.0
// Reads jobs from the shared memory and checks what they ask for.
#pragma once

#include "firmware/task.h"

// Whether memory may be given to a job or a variable: it is DRAM, but not what driver and firmware share.
bool npu_grantable(uint64_t address, uint64_t bytes);
// Whether the CPU sees it.
bool npu_job_visible(uint64_t address, uint64_t bytes);
// Whether it is part of what driver and firmware share.
bool npu_job_shared(uint64_t address, uint64_t bytes);

// What a job says of the scratchpad: bytes that it may use, and its constants that stay.
static inline uint32_t npu_job_own(const struct npu_job *job) { return job->region_limit[NPU_REGION_SCRATCHPAD]; }
static inline uint32_t npu_job_resident_offset(const struct npu_job *job) {
  return npu_low(job->region_base[NPU_REGION_SCRATCHPAD]);
}
static inline uint32_t npu_job_resident_bytes(const struct npu_job *job) {
  return npu_high(job->region_base[NPU_REGION_SCRATCHPAD]);
}
static inline uint32_t npu_job_resident_id(const struct npu_job *job) {
  return job->region_flags[NPU_REGION_SCRATCHPAD];
}

// Fills in what the job at device address `job` asks for. NPU_ERROR_FAULT_REQUEST when it may not.
enum npu_error npu_job_load(uint64_t job, struct npu_task *task);
// Fills in the segment that yield number `index` names. NPU_ERROR_FAULT_REQUEST when it does not belong to the stream.
enum npu_error npu_job_load_segment(struct npu_task *task, uint32_t index);
