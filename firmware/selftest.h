// SPDX-License-Identifier: Apache-2.0
// What is tested before the firmware serves anything.
#pragma once

#include "hw/contract/gen/npu_contract.h"

// FNV-1a over the code memory's image, as firmware_header has it.
uint32_t npu_code_checksum(void);
// Fills in npu_device, opens ring 0 and the log. NPU_SELF_TEST_NONE, or what failed first.
enum npu_self_test npu_self_test(void);
