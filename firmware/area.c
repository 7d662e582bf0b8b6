// SPDX-License-Identifier: Apache-2.0
#include "firmware/area.h"

#include "firmware/device.h"

enum { kAreas = 16 };  // with more programs than that the oldest ones are loaded again

// Bytes [base, end) of the scratchpad hold what `id` of the context stands for.
static struct npu_area { uint32_t base, end, id, owner; } npu_areas[kAreas];
uint32_t npu_areas_valid;
static uint32_t npu_next_area;  // that is given away when all are taken
// A core that was reset may have been stopped anywhere.
static uint32_t npu_areas_resets;

static uint32_t npu_valid_areas(void) {
  if (npu_areas_resets != npu_core_resets) npu_areas_valid = 0;
  npu_areas_resets = npu_core_resets;
  return npu_areas_valid;
}

static void npu_areas_overwrite(uint32_t base, uint32_t end) {
  uint32_t left = npu_valid_areas();
  for (uint32_t i = 0; left != 0; left >>= 1, ++i) {
    if ((left & 1) != 0 && npu_areas[i].base < end && base < npu_areas[i].end) npu_areas_valid &= ~(1u << i);
  }
}

void npu_area_overwrite(const struct npu_job *job, bool load) {
  const uint32_t own = npu_job_own(job), offset = npu_job_resident_offset(job);
  npu_areas_overwrite(0, own == 0 ? npu_device.spm_bytes : own);
  if (load) npu_areas_overwrite(offset, offset + npu_job_resident_bytes(job));
}

static uint32_t npu_free_area(void) {
  for (uint32_t i = 0; i < kAreas; ++i) {
    if ((npu_valid_areas() >> i & 1) == 0) return i;
  }
  npu_next_area = (npu_next_area + 1) % kAreas;
  return npu_next_area;
}

void npu_area_loaded(const struct npu_job *job, uint32_t owner) {
  const uint32_t free = npu_free_area();
  struct npu_area *area = &npu_areas[free];
  area->base = npu_job_resident_offset(job);
  area->end = area->base + npu_job_resident_bytes(job);
  area->id = npu_job_resident_id(job);
  area->owner = owner;
  npu_areas_valid |= 1u << free;
}

bool npu_area_holds(const struct npu_job *job, uint32_t owner) {
  const uint32_t bytes = npu_job_resident_bytes(job), base = npu_job_resident_offset(job);
  uint32_t left = npu_valid_areas();
  for (const struct npu_area *area = npu_areas; left != 0; left >>= 1, ++area) {
    if ((left & 1) != 0 && area->base == base && area->end == base + bytes && area->id == npu_job_resident_id(job) &&
        area->owner == owner) {
      return true;
    }
  }
  return false;
}
