// SPDX-License-Identifier: Apache-2.0
// Where a layer stands under the roof that the MXU's array and DRAM's best rate make.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sim/report/cause.h"

namespace npu::report {

struct Report;
struct LayerRow;

// Of work with MACs; rates are MACs a cycle.
struct Roofline {
  double intensity = 0;            // MACs a byte of DRAM; 0: it moves none
  double attainable = 0;           // with ideal overlap: the lower one of array and intensity times DRAM's best rate
  double attained = 0;             // over the cycles charged to it; 0: it is hidden behind other layers
  Resource roof = Resource::kMxu;  // which of the two attainable is: kMxu or kDram
};

// nullopt without MACs or time.
[[nodiscard]] std::optional<Roofline> roofline_of(const Report& report, const LayerRow& row);
// Of the whole job.
[[nodiscard]] std::optional<Roofline> roofline_of(const Report& report);

// A line a layer with MACs, and one of the job, ended by line ends; empty where no layer has MACs, and without time.
[[nodiscard]] std::string to_roofline(const Report& report);

}  // namespace npu::report
