// SPDX-License-Identifier: Apache-2.0
// What a table of sizes computes: size_operation and size_relation of the contract, of 64 bits with sign.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "hw/contract/gen/npu_contract.h"

// Of an operation but `constant`. False: not defined; then the result means nothing.
bool npu_size_compute(uint32_t operation, int64_t a, int64_t b, int64_t *result);
// Whether it is one of two values.
bool npu_size_takes_two(uint32_t operation);

// Whether it holds of values that are defined.
bool npu_size_related(uint32_t relation, int64_t left, int64_t right);
