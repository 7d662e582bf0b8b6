// SPDX-License-Identifier: Apache-2.0
// The parts of the JSON report about variables.
#pragma once

#include <nlohmann/json.hpp>

#include "sim/report/report.h"

namespace npu::report {

[[nodiscard]] nlohmann::ordered_json state_json(const Report& report);
[[nodiscard]] nlohmann::ordered_json timeline_json(const Report& report);

}  // namespace npu::report
