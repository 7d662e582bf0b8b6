// SPDX-License-Identifier: Apache-2.0
// Look-ups in place of chains of micro-operations.
#pragma once

#include <map>

#include "driver/compiler/lower/ewise_program.h"
#include "driver/compiler/lower/uop_values.h"

namespace npu::compiler {

// What depends on one value alone, and that one has at most 256, is known when the network is compiled: a table gives
// it, or that value itself where both are always equal, or two negations where one is the other and a constant. So one
// look-up stands for the exponential function of a softmax of INT8, which converters make of four TABLEs of INT16,
// shifts and sums.
//
// Replaces such micro-operations of a program of value numbers where a machine takes less time then: its passes, and
// the bytes of its tables and parameters. Bits stay. `known`: ranges of values that their micro-operations do not tell.
void use_lookups(const Facts& facts, const std::map<uint32_t, ValueRange>& known, EwiseProgram& program);

}  // namespace npu::compiler
