// SPDX-License-Identifier: Apache-2.0
#include "firmware/variables.h"

#include "firmware/core.h"
#include "firmware/device.h"
#include "firmware/job.h"
#include "firmware/memory.h"

// Words of an entry: base, length, owner with flags, hash. What counts at each of several reads is the entry's; what a
// job that runs meanwhile finds in its own variables counts once.
enum { kEntryWords = sizeof(struct npu_variable_entry) / 4, kFlagsLsb = 16, kReads = 3 };

// Whether a variable lies in memory that variables may have, with its second place if it has one.
static bool npu_variable_allowed(uint32_t base, uint32_t length, uint32_t flags) {
  const bool in_dram = (flags & NPU_VARIABLE_FLAG_IN_DRAM) != 0;
  const uint64_t unit = in_dram ? NPU_VARIABLE_DRAM_UNIT : npu_device.psram_port_bytes;
  uint64_t extent = length;
  if ((flags & NPU_VARIABLE_FLAG_DOUBLE_BUFFERED) != 0) extent += (length + unit - 1) & ~(unit - 1);
  if (in_dram) return npu_grantable((uint64_t)base * NPU_VARIABLE_DRAM_UNIT, extent);
  const uint32_t table = npu_device.var_entries * (uint32_t)sizeof(struct npu_variable_entry);
  return base >= table && npu_within(base, extent, npu_device.psram_bytes);
}

enum npu_error npu_variable_write(volatile const struct npu_ring_request *request) {
  const uint32_t index = request->value[0];
  const uint32_t base = request->value[1], length = request->value[2];
  if (index >= npu_device.var_entries) return NPU_ERROR_FAULT_REQUEST;
  if (length != 0 && !npu_variable_allowed(base, length, request->value[3] >> kFlagsLsb))
    return NPU_ERROR_FAULT_REQUEST;
  if (!npu_core_persistent_on()) return NPU_ERROR_FAULT_POWER;
  npu_write(NPU_REG_VAR_INDEX, index);
  // The running job may look at the entry between two words: it is free until it is complete.
  npu_write(NPU_REG_VAR_WORD1, 0);
  npu_write(NPU_REG_VAR_WORD0, base);
  npu_write(NPU_REG_VAR_WORD2, request->value[3]);
  npu_write(NPU_REG_VAR_WORD3, request->value[4]);
  if (length != 0) npu_write(NPU_REG_VAR_WORD1, length);
  return NPU_ERROR_OK;
}

enum npu_error npu_variable_read(uint32_t index, uint32_t words[4]) {
  if (index >= npu_device.var_entries) return NPU_ERROR_FAULT_REQUEST;
  if (!npu_core_persistent_on()) return NPU_ERROR_FAULT_POWER;
  npu_write(NPU_REG_VAR_INDEX, index);
  for (uint32_t attempt = 0; attempt < kReads; ++attempt) {
    // A register cannot say that its word is damaged; the count can.
    const uint32_t damaged = npu_read(NPU_REG_ECC_UNCORRECTABLE);
    for (uint32_t i = 0; i < kEntryWords; ++i) words[i] = npu_read(NPU_REG_VAR_WORD0 + 4 * i);
    if (npu_read(NPU_REG_ECC_UNCORRECTABLE) == damaged) return NPU_ERROR_OK;
  }
  return NPU_ERROR_FAULT_ECC;
}
