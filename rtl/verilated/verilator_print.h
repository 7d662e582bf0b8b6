// SPDX-License-Identifier: Apache-2.0
// Included in front of Verilator's own sources: what they print goes to assertion.cpp.
#pragma once

#ifdef __cplusplus
extern "C"
#endif
    int
    npu_verilator_print(const char* format, ...);
#define VL_PRINTF npu_verilator_print
