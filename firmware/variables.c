#include "firmware/variables.h"

#include "firmware/device.h"
#include "firmware/memory.h"

enum { kEntryWords = sizeof(struct npu_variable_entry) / 4 };

enum npu_error npu_variable_write(volatile const struct npu_ring_request *request) {
  const uint32_t index = request->value[0];
  const uint32_t base = request->value[1], length = request->value[2];
  if (index >= npu_device.var_entries) return NPU_ERROR_FAULT_REQUEST;
  const uint32_t table = npu_device.var_entries * (uint32_t)sizeof(struct npu_variable_entry);
  if (length != 0 && (base < table || !npu_within(base, length, npu_device.psram_bytes)))
    return NPU_ERROR_FAULT_REQUEST;
  npu_write(NPU_REG_VAR_INDEX, index);
  for (uint32_t i = 0; i < kEntryWords; ++i) npu_write(NPU_REG_VAR_WORD0 + 4 * i, request->value[1 + i]);
  return NPU_ERROR_OK;
}

enum npu_error npu_variable_read(uint32_t index, uint32_t words[4]) {
  if (index >= npu_device.var_entries) return NPU_ERROR_FAULT_REQUEST;
  npu_write(NPU_REG_VAR_INDEX, index);
  for (uint32_t i = 0; i < kEntryWords; ++i) words[i] = npu_read(NPU_REG_VAR_WORD0 + 4 * i);
  return NPU_ERROR_OK;
}
