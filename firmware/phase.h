// Marks for the firmware's track of a trace: what it works on, for which ring.
#pragma once

#include <stdint.h>

#include "hw/contract/gen/npu_contract.h"

// Reads whether anybody wants them; without, npu_phase() costs a comparison.
void npu_phase_init(void);
void npu_phase(enum npu_phase phase, uint32_t ring);
