// SPDX-License-Identifier: Apache-2.0
#include "sim/cosim/random_floats.h"

#include <array>
#include <cstring>

#include "hw/contract/elements.h"
#include "hw/contract/error.h"

namespace npu::cosim {

using contract::Element;

namespace {

// A sum of many is still a number, most times.
constexpr int64_t kOneExtremeIn = 200;

constexpr std::array kFormats = {Element::kF16, Element::kBf16, Element::kF32, Element::kF8e4m3, Element::kF8e5m2};

// Bits of a pattern behind its sign.
struct Format {
  uint32_t exponent, mantissa;
};
Format format_of(Element format) {
  switch (format) {
    case Element::kF16:
      return {5, 10};
    case Element::kBf16:
      return {8, 7};
    case Element::kF32:
      return {8, 23};
    case Element::kF8e4m3:
      return {4, 3};
    case Element::kF8e5m2:
      return {5, 2};
    case Element::kI8:
    case Element::kI16:
    case Element::kI32:
    case Element::kI48:
    case Element::kBool:
      break;
  }
  panic(__FILE__, __LINE__, "a format that is an integer");
}

}  // namespace

uint32_t random_float(Element format, FloatRange range, Random& random) {
  const auto [exponent_bits, mantissa_bits] = format_of(format);
  const auto bits = static_cast<uint32_t>(random.bits());
  const uint32_t sign = (bits & 1) << (exponent_bits + mantissa_bits);
  if (random.chance(5)) return sign;
  if (range == FloatRange::kWithExtremes && random.between(0, kOneExtremeIn - 1) == 0) {
    const uint32_t infinity = ((1U << exponent_bits) - 1) << mantissa_bits, any = bits >> 1;
    const uint32_t all_ones = (1U << (exponent_bits + mantissa_bits)) - 1;
    return sign | random.pick<uint32_t>({1U, (1U << mantissa_bits) - 1, 1U << mantissa_bits, infinity - 1, infinity,
                                         infinity + 1, all_ones, any & all_ones, any % infinity, any % infinity});
  }
  const uint32_t one = (1U << (exponent_bits - 1)) - 1;  // exponent of 1
  const auto exponent = static_cast<uint32_t>(one + random.between(-3, 2));
  return sign | exponent << mantissa_bits | (bits >> 1 & ((1U << mantissa_bits) - 1));
}

void fill_floats(uint8_t* to, int64_t count, Element format, FloatRange range, Random& random) {
  const uint32_t bytes = element_bytes(format);
  for (int64_t i = 0; i < count; ++i, to += bytes) {
    const uint32_t pattern = random_float(format, range, random);
    std::memcpy(to, &pattern, bytes);
  }
}

std::optional<Element> random_mxu_format(const contract::Capabilities& caps, Random& random) {
  std::array<Element, kFormats.size()> has{};
  int64_t count = 0;
  for (const Element format : kFormats) {
    if (contract::mxu_float_cycles(format, caps) > 0) has.at(static_cast<size_t>(count++)) = format;
  }
  if (count == 0) return std::nullopt;
  return has.at(static_cast<size_t>(random.between(0, count - 1)));
}

Element random_format(Random& random) {
  return kFormats.at(static_cast<size_t>(random.between(0, int64_t{kFormats.size()} - 1)));
}

Element random_result_format(Random& random) { return random.pick({Element::kF16, Element::kBf16, Element::kF32}); }

}  // namespace npu::cosim
