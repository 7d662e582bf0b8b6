// SPDX-License-Identifier: Apache-2.0
// Text in columns.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace npu::report {

struct Column {
  std::string_view title;
  bool left = false;
  size_t width = 0;  // of the widest cell; render() finds it
};

using Row = std::vector<std::string>;

// A line of titles, one of dashes, and a line a row; every row has a cell for each column.
[[nodiscard]] std::string render(std::vector<Column> columns, const std::vector<Row>& rows);

}  // namespace npu::report
