// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/engine/scalar_math.h"

#include <algorithm>
#include <cstring>

namespace npu::engine::testing {

using contract::Element;
using contract::Rescale;

int64_t wrap(Wide value, int bits) {
  const Wide modulus = Wide{1} << bits;
  Wide rest = value % modulus;
  if (rest < 0) rest += modulus;
  if (rest >= modulus / 2) rest -= modulus;
  return static_cast<int64_t>(rest);
}

Wide floor_shift(Wide value, int shift) {
  const Wide divisor = Wide{1} << shift;
  Wide quotient = value / divisor;
  if (value % divisor < 0) --quotient;
  return quotient;
}

int64_t scale(int64_t value, Rescale kind, int64_t multiplier, int64_t shift) {
  Wide round = Wide{1} << (shift - 1);
  if (kind == Rescale::kDouble32 && shift > 31) round += value >= 0 ? Wide{1} << 30 : -(Wide{1} << 30);
  return wrap(floor_shift(Wide{value} * multiplier + round, static_cast<int>(shift)), 32);
}

int64_t clip_to(int64_t value, Element type, bool is_unsigned) {
  const int bits = type == Element::kI8 ? 8 : type == Element::kI16 ? 16 : 32;
  const int64_t low = is_unsigned ? 0 : -(int64_t{1} << (bits - 1));
  return std::clamp(value, low, low + (int64_t{1} << bits) - 1);
}

int64_t rescale(int64_t value, Rescale kind, const contract::ParameterEntry& entry,
                const contract::ParameterHeader& header, Element type, bool is_unsigned) {
  const int64_t scaled = scale(value, kind, entry.multiplier, entry.shift);
  const int64_t clipped = clip_to(wrap(Wide{scaled} + header.output_zp, 32), type, is_unsigned);
  return std::min<int64_t>(std::max<int64_t>(clipped, header.clamp_min), header.clamp_max);
}

int64_t load(const uint8_t* from, Element type) {
  int64_t value = 0;
  std::memcpy(&value, from, element_bytes(type));
  if (type == Element::kI48) return value;
  return type == Element::kBool ? value : wrap(value, static_cast<int>(8 * element_bytes(type)));
}

uint32_t load_pattern(const uint8_t* from, Element type) {
  uint32_t pattern = 0;
  std::memcpy(&pattern, from, element_bytes(type));
  return pattern;
}

void store(uint8_t* to, Element type, int64_t value) { std::memcpy(to, &value, element_bytes(type)); }

}  // namespace npu::engine::testing
