// SPDX-License-Identifier: Apache-2.0
#include "sim/report/roofline.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "sim/report/columns.h"
#include "sim/report/report.h"
#include "sim/report/table.h"

namespace npu::report {
namespace {

// All of the same invocations: MACs, bytes of DRAM, charged cycles, and fewest cycles of array and DRAM.
std::optional<Roofline> place_under_roof(uint64_t macs, uint64_t bytes, uint64_t cycles, const ResourceCycles& bounds) {
  const uint64_t array = bounds[static_cast<size_t>(Resource::kMxu)];
  const uint64_t dram = bounds[static_cast<size_t>(Resource::kDram)];
  if (macs == 0 || std::max(array, dram) == 0) return std::nullopt;
  const auto work = static_cast<double>(macs);
  Roofline line;
  if (bytes > 0) line.intensity = work / static_cast<double>(bytes);
  line.attainable = work / static_cast<double>(std::max(array, dram));
  if (cycles > 0) line.attained = work / static_cast<double>(cycles);
  line.roof = dram > array ? Resource::kDram : Resource::kMxu;
  return line;
}

// Without some records, work and bytes are those of other commands than the cycles.
bool has_roofline(const Report& report) { return report.timed() && report.events_lost == 0; }

Row roofline_row(std::string name, const Roofline& line) {
  const std::string share =
      line.attained == 0 ? "hidden" : fmt::format("{:.0f} %", 100 * line.attained / line.attainable);
  return {std::move(name),
          line.intensity == 0 ? "-" : fmt::format("{:.2f}", line.intensity),
          fmt::format("{:.1f}", line.attainable),
          line.attained == 0 ? "-" : fmt::format("{:.1f}", line.attained),
          share,
          std::string(words(line.roof))};
}

}  // namespace

std::optional<Roofline> roofline_of(const Report& report, const LayerRow& row) {
  if (!has_roofline(report)) return std::nullopt;
  return place_under_roof(row.macs, row.dram_read + row.dram_written, row.cycles, row.bounds);
}

std::optional<Roofline> roofline_of(const Report& report) {
  if (!has_roofline(report)) return std::nullopt;
  uint64_t bytes = 0;
  for (const LayerRow& row : report.layers) bytes += row.dram_read + row.dram_written;
  return place_under_roof(report.macs_of_all(), bytes, report.cycles, report.bounds());
}

std::string to_roofline(const Report& report) {
  if (report.timed() && report.events_lost > 0) return "roofline  none, because commands completed without a record\n";
  std::vector<Row> rows;
  for (const LayerRow& row : report.layers) {
    if (const auto line = roofline_of(report, row)) rows.push_back(roofline_row(layer_cells(row.layer)[0], *line));
  }
  if (rows.empty()) return "";
  if (const auto all = roofline_of(report)) rows.push_back(roofline_row("all layers", *all));
  return render({{"layer", true}, {"MACs/DRAM byte"}, {"attainable"}, {"attained"}, {"share"}, {"roof", true}}, rows) +
         "attainable and attained are MACs a cycle\n";
}

}  // namespace npu::report
