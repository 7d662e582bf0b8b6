// SPDX-License-Identifier: Apache-2.0
// The report for people.
#pragma once

#include <string>
#include <vector>

#include "driver/compiler/program.h"
#include "sim/report/columns.h"
#include "sim/report/report.h"

namespace npu::report {

// A row a layer (averages over invocations), the total with time at the clock, and the state used. Ends with a newline.
[[nodiscard]] std::string to_table(const Report& report);

// Name and operators of a layer on one line, as a table shows them: cut to a width.
[[nodiscard]] Row layer_cells(const compiler::Layer& layer);

// What ran on RTL, a line each, and what was compared there; empty where the model was alone.
[[nodiscard]] std::string back_end_lines(const std::vector<EngineRun>& engines, const PersistentRun& persistent_sram);

// "1,234,567"
[[nodiscard]] std::string grouped(uint64_t value);
// "39.3k", "300.8M"
[[nodiscard]] std::string short_number(double value);
// "1.2 ms", "350 us"
[[nodiscard]] std::string duration(double microseconds);
// Of a job: "3,832 cycles (MXU 48; DRAM 3,832 for 49,049 bytes that have to move)".
[[nodiscard]] std::string bound_text(const Bound& bound);
[[nodiscard]] std::string room_text(const RoomBound& room);

}  // namespace npu::report
