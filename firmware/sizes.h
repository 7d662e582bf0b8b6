// SPDX-License-Identifier: Apache-2.0
// Jobs of programs for sizes within bounds: which values they bring, whether the program takes them, and the words of
// its stream that depend on them (size_table and job_sizes of the contract).
#pragma once

#include "firmware/job.h"
#include "firmware/memory.h"
#include "firmware/task.h"

// Most jobs have fixed sizes: what they do costs them as little as can be.
#define NPU_SIZES_RARE __attribute__((cold, noinline))

static inline bool npu_sized(const struct npu_job *job) { return npu_low(job->size_table) != 0; }

// Checks table and sizes of a task whose job was read, evaluates them, and writes the results behind the sizes. Writes
// nothing else, so another job of the program may run. NPU_ERROR_FAULT_SIZES, or NPU_ERROR_SIZE_OUT_OF_BOUNDS and
// NPU_ERROR_SIZE_MISMATCH, with the number of the symbol or the condition in task->sizes.fault.
NPU_SIZES_RARE enum npu_error npu_sizes_load(struct npu_task *task);
// A job with its sizes: npu_job_load(), and the same.
static inline enum npu_error npu_sizes_load_job(uint64_t job, struct npu_task *task) {
  const enum npu_error error = npu_job_load(job, task);
  return error == NPU_ERROR_OK && npu_sized(&task->job) ? npu_sizes_load(task) : error;
}

NPU_SIZES_RARE bool npu_sizes_current(struct npu_task *task);
// Whether the stream is that of the task's sizes.
static inline bool npu_sizes_ready(struct npu_task *task) { return !npu_sized(&task->job) || npu_sizes_current(task); }

// Makes it so. No stream of the program may run. Errors as npu_sizes_load(), and NPU_ERROR_FAULT_PATCH with the number
// of the rule: then the next job of the program writes all of the words again.
NPU_SIZES_RARE enum npu_error npu_sizes_apply(struct npu_task *task);

NPU_SIZES_RARE void npu_sizes_tell(const struct npu_task *task);
