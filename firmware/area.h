// SPDX-License-Identifier: Apache-2.0
// Which constants are in the scratchpad, from jobs that have ended: each in an area of its own.
#pragma once

#include "firmware/job.h"

// Which areas are in use: a bit each.
extern uint32_t npu_areas_valid;

// Nothing of earlier jobs is in the scratchpad any more.
static inline void npu_areas_forget(void) { npu_areas_valid = 0; }

void npu_area_overwrite(const struct npu_job *job, bool load);
// A stream of the job starts: what it may overwrite is not there any more. `load`: it fills the job's own area.
static inline void npu_area_use(const struct npu_job *job, bool load) {
  if (npu_areas_valid != 0) npu_area_overwrite(job, load);
}

// The stream that fills the job's area has ended well.
void npu_area_loaded(const struct npu_job *job, uint32_t owner);

bool npu_area_holds(const struct npu_job *job, uint32_t owner);
// Whether the job has no constants to load.
static inline bool npu_area_ready(const struct npu_job *job, uint32_t owner) {
  return npu_job_resident_bytes(job) == 0 || npu_area_holds(job, owner);
}
