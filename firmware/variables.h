// SPDX-License-Identifier: Apache-2.0
// The table of variables in the persistent SRAM.
#pragma once

#include "hw/contract/gen/npu_contract.h"

// Entry value[0] becomes value[1] to value[4]. NPU_ERROR_FAULT_REQUEST for an index beyond the table, and for a
// variable that lies neither behind the table in the persistent SRAM nor in DRAM outside of the shared memory;
// NPU_ERROR_FAULT_POWER unless the persistent SRAM is on.
enum npu_error npu_variable_write(volatile const struct npu_ring_request *request);
// NPU_ERROR_FAULT_REQUEST for an index beyond the table, NPU_ERROR_FAULT_POWER unless the persistent SRAM is on,
// NPU_ERROR_FAULT_ECC when the entry cannot be read.
enum npu_error npu_variable_read(uint32_t index, uint32_t words[4]);
