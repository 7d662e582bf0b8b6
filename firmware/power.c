#include "firmware/power.h"

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

enum npu_error npu_power(uint32_t state) {
  if (state > NPU_POWER_STATE_SLEEP || npu_power_needed()) return NPU_ERROR_FAULT_REQUEST;
  if (state == NPU_POWER_STATE_ACTIVE) return npu_core_power_up() ? NPU_ERROR_OK : NPU_ERROR_FAULT_POWER;
  npu_core_power_down();
  return NPU_ERROR_OK;
}
