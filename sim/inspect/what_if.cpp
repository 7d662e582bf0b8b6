// SPDX-License-Identifier: Apache-2.0
#include "sim/inspect/what_if.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/report/columns.h"
#include "sim/report/table.h"

namespace npu::inspect {
namespace {

using Json = nlohmann::ordered_json;
using report::grouped;

// Of the cycles of the machine as it is; below 0: cycles are saved.
double relative(const WhatIf& what_if, uint64_t cycles) {
  if (what_if.cycles == 0) return 0;
  return (static_cast<double>(cycles) - static_cast<double>(what_if.cycles)) / static_cast<double>(what_if.cycles);
}

bool saves(const WhatIf& what_if, const WhatIfRow& row) { return row.cycles && *row.cycles < what_if.cycles; }

Json row_json(const WhatIf& what_if, const WhatIfRow& row) {
  Json keys = Json::array();
  for (const KeyChange& key : row.change.keys) {
    keys.push_back(
        {{"key", fmt::format("{}{}", key.of_dram ? "dram." : "", key.key)}, {"from", key.from}, {"to", key.to}});
  }
  Json result = {{"resource", row.change.resource},
                 {"keys", keys},
                 {"cycles", nullptr},
                 {"change", nullptr},
                 {"why_not", nullptr}};
  if (row.cycles) {
    result["cycles"] = *row.cycles;
    result["change"] = relative(what_if, *row.cycles);
  } else {
    result["why_not"] = row.why_not;
  }
  return result;
}

}  // namespace

void sort_by_cycles(WhatIf& what_if) {
  std::stable_sort(what_if.rows.begin(), what_if.rows.end(), [](const WhatIfRow& a, const WhatIfRow& b) {
    const auto key = [](const WhatIfRow& row) {
      return std::make_pair(row.cycles.value_or(UINT64_MAX), row.change.keys.size());
    };
    return key(a) < key(b);
  });
}

std::string to_text(const WhatIf& what_if, size_t count) {
  const std::string plural = what_if.invocations == 1 ? "" : "s";
  std::string text = fmt::format("{} on {}, {} invocation{}: {} cycles\n\n", what_if.file, what_if.machine.name,
                                 grouped(what_if.invocations), plural, grouped(what_if.cycles));
  std::vector<report::Row> rows;
  size_t useless = 0, unable = 0;
  for (const WhatIfRow& row : what_if.rows) {
    if (!row.cycles) ++unable;
    if (row.cycles && !saves(what_if, row)) ++useless;
    if (!saves(what_if, row) || rows.size() >= count) continue;
    rows.push_back({std::string(row.change.resource), grouped(what_if.cycles), grouped(*row.cycles),
                    fmt::format("{:+.1f} %", 100 * relative(what_if, *row.cycles)), to_text(row.change)});
  }
  if (rows.empty()) {
    text += "no change of one resource saves cycles\n";
  } else {
    text += report::render(
        {{"resource", true}, {"before"}, {"after"}, {"change"}, {"keys of the machine's file", true}}, rows);
  }
  text += fmt::format("\n{} changes tried, {} of them save nothing", what_if.rows.size(), useless);
  if (unable > 0) text += fmt::format(", {} cannot run the network", unable);
  return text + "; --json has all\n";
}

std::string to_json_text(const WhatIf& what_if) {
  Json rows = Json::array();
  for (const WhatIfRow& row : what_if.rows) rows.push_back(row_json(what_if, row));
  const Json document = {{"schema", "npu-what-if"},
                         {"schema_version", 1},
                         {"file", what_if.file},
                         {"machine", what_if.machine.name},
                         {"invocations", what_if.invocations},
                         {"cycles", what_if.cycles},
                         {"changes", rows}};
  return document.dump(2, ' ', true, Json::error_handler_t::replace) + '\n';
}

}  // namespace npu::inspect
