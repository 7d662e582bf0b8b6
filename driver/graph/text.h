// How messages name things that come from a file.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "driver/graph/graph.h"

namespace npu::graph {

// The text in single quotes, made fit for one line of a terminal: control characters escaped, at most 80 characters.
[[nodiscard]] std::string in_quotes(std::string_view text);

// "operator 12 (CONV2D, loc(...))"; the position is that of the block's list.
[[nodiscard]] std::string describe(const Operator& op, size_t position);

// "INT8[1, 3, 40]"
[[nodiscard]] std::string describe_type(const Tensor& tensor);

}  // namespace npu::graph
