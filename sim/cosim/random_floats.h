// SPDX-License-Identifier: Apache-2.0
// Random numbers of floating-point formats, and tiles with them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "hw/contract/gen/capabilities.h"
#include "hw/contract/gen/commands.h"
#include "sim/cosim/random.h"

namespace npu::cosim {

// How numbers are drawn: those around 1 cancel and round when they are added, the others meet the ends of a format.
enum class FloatRange : uint8_t {
  kAroundOne,    // of both signs, a few exponents apart; now and then a zero
  kWithExtremes  // the same, but some are subnormal, largest, infinite or NaN, or any bits
};

// A pattern of the format.
[[nodiscard]] uint32_t random_float(contract::Element format, FloatRange range, Random& random);
// `count` of them behind each other, at any alignment.
void fill_floats(uint8_t* to, int64_t count, contract::Element format, FloatRange range, Random& random);

// One that the machine's MXU has, or none.
[[nodiscard]] std::optional<contract::Element> random_mxu_format(const contract::Capabilities& caps, Random& random);
[[nodiscard]] contract::Element random_format(Random& random);
// f16, bf16 or f32.
[[nodiscard]] contract::Element random_result_format(Random& random);

}  // namespace npu::cosim
