// SPDX-License-Identifier: Apache-2.0
// Power states of the device, and what needs it idle.
#pragma once

#include "hw/contract/gen/npu_contract.h"

// Goes to a power_state. NPU_ERROR_FAULT_REQUEST while jobs are queued or running, and for an unknown state;
// NPU_ERROR_FAULT_POWER when the engines get no power.
enum npu_error npu_power(uint32_t state);

// The persistent SRAM goes to a psram_power. NPU_ERROR_FAULT_REQUEST while jobs are queued or running, and for an
// unknown state.
enum npu_error npu_persistent_power(uint32_t state);
// Reads all of it: bits corrected, words with two wrong bits, offset of the last of them. NPU_ERROR_FAULT_REQUEST while
// jobs are queued or running; NPU_ERROR_FAULT_POWER unless it is on.
enum npu_error npu_scrub(uint32_t values[4]);
