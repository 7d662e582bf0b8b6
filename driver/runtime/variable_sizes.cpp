// SPDX-License-Identifier: Apache-2.0
#include "driver/runtime/variable_sizes.h"

#include <fmt/format.h>

#include <algorithm>

#include "driver/graph/text.h"

namespace npu::runtime {

VariableSizes sizes_of(const compiler::Variable& variable) {
  VariableSizes sizes{variable.shape, variable.shape};
  for (size_t d = 0; d < variable.sizes.size(); ++d) {
    if (variable.sizes[d] >= 0) sizes.shape[d] = kOpenSize;
  }
  return sizes;
}

bool has_open(const graph::Shape& shape) { return std::find(shape.begin(), shape.end(), kOpenSize) != shape.end(); }

graph::Shape filled(const VariableSizes& sizes) {
  graph::Shape shape = sizes.shape;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == kOpenSize) shape[d] = sizes.largest[d];
  }
  return shape;
}

bool agree(const VariableSizes& a, const VariableSizes& b) {
  if (a.shape.size() != b.shape.size()) return false;
  for (size_t d = 0; d < a.shape.size(); ++d) {
    const bool a_open = a.shape[d] == kOpenSize, b_open = b.shape[d] == kOpenSize;
    if (a_open && b_open) continue;
    const bool fits = a_open   ? b.shape[d] <= a.largest[d]
                      : b_open ? a.shape[d] <= b.largest[d]
                               : a.shape[d] == b.shape[d];
    if (!fits) return false;
  }
  return true;
}

VariableSizes merged(const VariableSizes& a, const VariableSizes& b) {
  VariableSizes both = a;
  for (size_t d = 0; d < both.shape.size(); ++d) {
    if (both.shape[d] == kOpenSize) both.shape[d] = b.shape[d];
    both.largest[d] = std::max(both.largest[d], b.largest[d]);
  }
  return both;
}

std::string describe(graph::DType type, const VariableSizes& sizes) {
  std::string text;
  for (size_t d = 0; d < sizes.shape.size(); ++d) {
    if (d > 0) text += ", ";
    text += sizes.shape[d] == kOpenSize ? fmt::format("up to {}", sizes.largest[d]) : fmt::to_string(sizes.shape[d]);
  }
  return fmt::format("{}[{}]", graph::name(type), text);
}

}  // namespace npu::runtime
