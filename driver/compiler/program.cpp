// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/program.h"

#include <array>

namespace npu::compiler {
namespace {

// Of dimensions, outermost first: primes, so that only sizes beyond a million make up for each other. Small enough for
// the multipliers of rules.
constexpr std::array<uint32_t, 8> kFactors = {1000003, 1048583, 1098791, 1151413, 1206539, 1264337, 1324969, 1388483};

}  // namespace

uint32_t variable_hash(graph::DType type, const graph::Shape& shape) {
  uint32_t hash = 2166136261u;
  const auto mix = [&hash](uint64_t value) {
    for (int byte = 0; byte < 8; ++byte) {
      hash ^= static_cast<uint8_t>(value >> (8 * byte));
      hash *= 16777619u;
    }
  };
  mix(static_cast<uint64_t>(type));
  mix(shape.size());
  for (size_t i = 0; i < shape.size(); ++i) hash += static_cast<uint32_t>(shape[i]) * kFactors[i % kFactors.size()];
  return hash;
}

}  // namespace npu::compiler
