// Power states of the device.
#pragma once

#include "hw/contract/gen/npu_contract.h"

// Goes to a power_state. NPU_ERROR_FAULT_REQUEST while jobs are queued or running, and for an unknown state;
// NPU_ERROR_FAULT_POWER when the engines get no power.
enum npu_error npu_power(uint32_t state);
