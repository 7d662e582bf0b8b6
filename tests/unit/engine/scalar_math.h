// SPDX-License-Identifier: Apache-2.0
// Arithmetic of the specification, one value at a time and exact, written apart from the engines.
#pragma once

#include <cstdint>

#include "hw/contract/gen/commands.h"

namespace npu::engine::testing {

__extension__ typedef __int128 Wide;

// Low `bits` bits, sign-extended.
int64_t wrap(Wide value, int bits);

// Floor of value / 2^shift.
Wide floor_shift(Wide value, int shift);

int64_t scale(int64_t value, contract::Rescale kind, int64_t multiplier, int64_t shift);

int64_t clip_to(int64_t value, contract::Element type, bool is_unsigned);

// RESCALE and the output stage from an accumulator or value whose input zero point is off already.
int64_t rescale(int64_t value, contract::Rescale kind, const contract::ParameterEntry& entry,
                const contract::ParameterHeader& header, contract::Element type, bool is_unsigned);

int64_t load(const uint8_t* from, contract::Element type);
uint32_t load_pattern(const uint8_t* from, contract::Element type);  // up to 32 bits, without sign
void store(uint8_t* to, contract::Element type, int64_t value);

}  // namespace npu::engine::testing
