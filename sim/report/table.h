// SPDX-License-Identifier: Apache-2.0
// The report for people.
#pragma once

#include <string>

#include "sim/report/report.h"

namespace npu::report {

// A row a layer (averages over invocations), the total with time at the clock, and the state used. Ends with a newline.
[[nodiscard]] std::string to_table(const Report& report);

// "1,234,567"
[[nodiscard]] std::string grouped(uint64_t value);
// "39.3k", "300.8M"
[[nodiscard]] std::string short_number(double value);
// "1.2 ms", "350 us"
[[nodiscard]] std::string duration(double microseconds);

}  // namespace npu::report
