#include "firmware/phase.h"

#include <stdbool.h>

#include "firmware/memory.h"

static bool npu_phase_wanted;

void npu_phase_init(void) { npu_phase_wanted = npu_read(NPU_REG_PHASE_CAPACITY) != 0; }

void npu_phase(enum npu_phase phase, uint32_t ring) {
  if (npu_phase_wanted) npu_write(NPU_REG_PHASE, (uint32_t)phase | ring << NPU_REG_PHASE_ARGUMENT_LSB);
}
