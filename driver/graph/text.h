// SPDX-License-Identifier: Apache-2.0
// How messages name things that come from a file.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "driver/graph/graph.h"

namespace npu::graph {

// The text made fit for one line of a terminal: bytes that are not UTF-8, controls and marks of direction escaped byte
// by byte; cut behind at most `longest` bytes.
inline constexpr size_t kLongestName = 80;
[[nodiscard]] std::string printable(std::string_view text, size_t longest = kLongestName);

// The same for text of several lines: line ends and tabs stay, and nothing is cut.
[[nodiscard]] std::string printable_lines(std::string_view text);

// As printable(), in single quotes.
[[nodiscard]] std::string in_quotes(std::string_view text);

// "operator 12 (CONV2D, loc(...))"; the position is that of the block's list.
[[nodiscard]] std::string describe(const Operator& op, size_t position);

// "INT8[1, 3, 40]"
[[nodiscard]] std::string describe_type(DType type, const Shape& shape);
[[nodiscard]] std::string describe_type(const Tensor& tensor);

}  // namespace npu::graph
