// SPDX-License-Identifier: Apache-2.0
#include "firmware/phase.h"

bool npu_phase_wanted;

void npu_phase_init(void) { npu_phase_wanted = npu_read(NPU_REG_PHASE_CAPACITY) != 0; }
