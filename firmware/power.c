// SPDX-License-Identifier: Apache-2.0
#include "firmware/power.h"

#include "firmware/area.h"
#include "firmware/context.h"

// Jobs are queued or running.
static bool npu_power_needed(void) {
  if (npu_tasks != 0) return true;
  for (uint32_t i = 1; i < NPU_RINGS; ++i) {
    struct npu_context *context = &npu_contexts[i];
    if (!npu_ring_served(&context->ring)) continue;
    if (!npu_ring_look(&context->ring)) {
      npu_context_corrupt(context);
    } else if (npu_ring_waiting(&context->ring) != 0) {
      return true;
    }
  }
  return false;
}

enum npu_error npu_persistent_power(uint32_t state) {
  if (state > NPU_PSRAM_POWER_OFF || npu_power_needed()) return NPU_ERROR_FAULT_REQUEST;
  npu_core_persistent_power((enum npu_psram_power)state);
  return NPU_ERROR_OK;
}

enum npu_error npu_scrub(uint32_t values[4]) {
  if (npu_power_needed()) return NPU_ERROR_FAULT_REQUEST;
  if (!npu_core_persistent_on()) return NPU_ERROR_FAULT_POWER;
  const struct npu_scrubbed result = npu_core_scrub();
  values[0] = result.corrected;
  values[1] = result.damaged;
  values[2] = result.address;
  return NPU_ERROR_OK;
}

enum npu_error npu_power(uint32_t state) {
  if (state > NPU_POWER_STATE_SLEEP || npu_power_needed()) return NPU_ERROR_FAULT_REQUEST;
  if (state == NPU_POWER_STATE_ACTIVE) return npu_core_power_up() ? NPU_ERROR_OK : NPU_ERROR_FAULT_POWER;
  npu_core_power_down();
  npu_areas_forget();
  return NPU_ERROR_OK;
}
