// SPDX-License-Identifier: Apache-2.0
// Marks for the firmware's track of a trace: what it works on, for which ring.
#pragma once

#include "firmware/memory.h"

// Somebody wants them; without, npu_phase() costs a comparison.
extern bool npu_phase_wanted;
void npu_phase_init(void);

static inline void npu_phase(enum npu_phase phase, uint32_t ring) {
  if (npu_phase_wanted) npu_write(NPU_REG_PHASE, (uint32_t)phase | ring << NPU_REG_PHASE_ARGUMENT_LSB);
}
