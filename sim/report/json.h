// SPDX-License-Identifier: Apache-2.0
// The report for machines. Every field is defined in docs/reference/report.md.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sim/report/report.h"

namespace npu::report {

inline constexpr int kJsonSchemaVersion = 4;

// Text of the JSON document, ending with a newline. Names from files that are not UTF-8 have their stray bytes
// replaced.
[[nodiscard]] std::string to_json(const Report& report);

// The list `engines` of the document.
[[nodiscard]] nlohmann::ordered_json to_json(const std::vector<EngineRun>& engines, const RunInfo& info);

// The object `persistent_sram` of the document.
[[nodiscard]] nlohmann::ordered_json to_json(const PersistentRun& run);

// The object `total.bound`: the mean of the invocations that `sum` is of.
[[nodiscard]] nlohmann::ordered_json to_json(const Bound& sum, uint64_t invocations);
// The object `total.room_bound`; null for nullopt.
[[nodiscard]] nlohmann::ordered_json to_json(const std::optional<RoomBound>& room);

// One line a layer behind a line of column names (RFC 4180); the columns are those of the table and defined like the
// JSON fields of the same names. The columns that start with `run_` are those of `firmware`: the same in every line,
// and empty where it is null.
[[nodiscard]] std::string to_csv(const Report& report);

}  // namespace npu::report
