// SPDX-License-Identifier: Apache-2.0
// How messages name things that come from a file.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "driver/graph/graph.h"

namespace npu::graph {

// The text made fit for one line of a terminal: control characters escaped, cut behind `longest` characters.
inline constexpr size_t kLongestName = 80;
[[nodiscard]] std::string printable(std::string_view text, size_t longest = kLongestName);

// The same in single quotes.
[[nodiscard]] std::string in_quotes(std::string_view text);

// "operator 12 (CONV2D, loc(...))"; the position is that of the block's list.
[[nodiscard]] std::string describe(const Operator& op, size_t position);

// "INT8[1, 3, 40]"
[[nodiscard]] std::string describe_type(DType type, const Shape& shape);
[[nodiscard]] std::string describe_type(const Tensor& tensor);

}  // namespace npu::graph
