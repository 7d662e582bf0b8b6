// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/program.h"

namespace npu::compiler {

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
  for (int64_t dim : shape) mix(static_cast<uint64_t>(dim));
  return hash;
}

}  // namespace npu::compiler
