// SPDX-License-Identifier: Apache-2.0
#include "sim/report/columns.h"

#include <fmt/format.h>

#include <algorithm>

namespace npu::report {

std::string render(std::vector<Column> columns, const std::vector<Row>& rows) {
  for (size_t i = 0; i < columns.size(); ++i) {
    columns[i].width = columns[i].title.size();
    for (const Row& row : rows) columns[i].width = std::max(columns[i].width, row[i].size());
  }
  std::string text;
  const auto line = [&](auto&& cell) {
    std::string row;
    for (size_t i = 0; i < columns.size(); ++i) {
      row += i == 0 ? "" : "  ";
      row += columns[i].left ? fmt::format("{:<{}}", cell(i), columns[i].width)
                             : fmt::format("{:>{}}", cell(i), columns[i].width);
    }
    text += row.substr(0, row.find_last_not_of(' ') + 1) + '\n';
  };
  line([&](size_t i) { return std::string(columns[i].title); });
  line([&](size_t i) { return std::string(columns[i].width, '-'); });
  for (const Row& row : rows) line([&](size_t i) { return row[i]; });
  return text;
}

}  // namespace npu::report
