// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/report/json.h"
#include "sim/report/roofline.h"

namespace npu::report {
namespace {

// A line, field by field.
class CsvLine {
 public:
  template <typename Value>
  void add(const Value& value) {
    text_ += fmt::format("{}{}", text_.empty() ? "" : ",", value);
  }
  void add_text(std::string_view text) {
    if (text.find_first_of(",\"\r\n") == std::string_view::npos) return add(text);
    std::string quoted = "\"";
    for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    add(quoted + '"');
  }
  // "1x56x56x64"
  template <typename List>
  void add_dims(const List& dims) {
    add(fmt::format("{}", fmt::join(dims, "x")));
  }
  [[nodiscard]] std::string take() { return std::move(text_) + '\n'; }

 private:
  std::string text_;
};

bool is_unit(Resource resource) { return resource != Resource::kLatency && resource != Resource::kCommandIssue; }

std::string titles() {
  CsvLine line;
  for (const char* title : {"network",
                            "machine",
                            "layer",
                            "operator",
                            "operators",
                            "position",
                            "engine",
                            "output",
                            "input_shape",
                            "output_shape",
                            "kernel",
                            "stride",
                            "dilation",
                            "tile",
                            "tiles",
                            "commands",
                            "cycles",
                            "share",
                            "estimated_cycles",
                            "macs",
                            "utilisation",
                            "dram_read_bytes",
                            "dram_written_bytes",
                            "persistent_read_bytes",
                            "persistent_written_bytes",
                            "mxu_busy_cycles",
                            "vpu_busy_cycles",
                            "dma_busy_cycles",
                            "limited_by"}) {
    line.add(title);
  }
  for (size_t i = 0; i < kResourceCount; ++i) line.add(fmt::format("limits.{}", name(static_cast<Resource>(i))));
  for (size_t i = 0; i < kCauseCount; ++i) line.add(fmt::format("cycles_by_cause.{}", name(static_cast<Cause>(i))));
  for (const char* group : {"busy", "lower_bounds"}) {
    for (size_t i = 0; i < kResourceCount; ++i) {
      const auto resource = static_cast<Resource>(i);
      if (is_unit(resource)) line.add(fmt::format("{}.{}", group, name(resource)));
    }
  }
  for (const char* title : {"intensity", "attainable", "attained", "roof"}) line.add(fmt::format("roofline.{}", title));
  for (const char* title : {"run_firmware_cycles", "run_device_cycles", "run_engine_cycles", "run_outside_engines",
                            "run_preemptions", "run_blocked_cycles"}) {
    line.add(title);
  }
  return line.take();
}

void add_description(const Report& report, const LayerRow& row, CsvLine& line) {
  const compiler::Layer& layer = row.layer;
  for (const std::string& text : {report.info.file, report.info.machine.name, layer.name, layer.kind, layer.operators,
                                  layer.position, std::string(compiler::runs_on(layer)), layer.output}) {
    line.add_text(text);
  }
  line.add_dims(layer.input_shape);
  line.add_dims(layer.output_shape);
  for (const std::vector<int32_t>& sizes : {layer.kernel, layer.stride, layer.dilation}) line.add_dims(sizes);
  line.add_dims(row.tile);
  line.add(layer.tiles);
}

void add_limits(const Report& report, const LayerRow& row, CsvLine& line) {
  for (const uint64_t cycles : row.charge.limits) line.add(report.per_invocation(cycles));
  for (const uint64_t cycles : row.charge.causes) line.add(report.per_invocation(cycles));
  for (const ResourceCycles* group : {&row.charge.busy, &row.bounds}) {
    for (size_t i = 0; i < kResourceCount; ++i) {
      if (is_unit(static_cast<Resource>(i))) line.add(report.per_invocation((*group)[i]));
    }
  }
}

// Empty without MACs.
void add_roofline(const Report& report, const LayerRow& row, CsvLine& line) {
  const std::optional<Roofline> roofline = roofline_of(report, row);
  for (const double Roofline::*rate : {&Roofline::intensity, &Roofline::attainable, &Roofline::attained}) {
    const bool known = roofline && (*roofline).*rate > 0;
    line.add(known ? fmt::format("{}", (*roofline).*rate) : std::string());
  }
  line.add(roofline ? name(roofline->roof) : std::string_view());
}

// The columns of the whole run.
void add_run(const Report& report, CsvLine& line) {
  if (!report.firmware) {
    for (int i = 0; i < 6; ++i) line.add("");
    return;
  }
  const FirmwareCost& cost = *report.firmware;
  line.add(report.per_invocation(cost.cycles));
  line.add(report.per_invocation(cost.device_cycles));
  line.add(report.per_invocation(cost.engine_cycles));
  line.add(fmt::format("{:.6f}", cost.outside_engines()));
  line.add(cost.preemptions);
  line.add(report.per_invocation(cost.blocked));
}

std::string csv_layer(const Report& report, const LayerRow& row) {
  CsvLine line;
  add_description(report, row, line);
  const double share = report.cycles == 0 ? 0 : static_cast<double>(row.cycles) / static_cast<double>(report.cycles);
  line.add(report.per_invocation(row.commands));
  line.add(report.per_invocation(row.cycles));
  line.add(fmt::format("{:.6f}", share));
  line.add(row.layer.estimated_cycles);
  line.add(report.per_invocation(row.macs));
  const std::optional<double> used = report.utilisation(row.macs, row.cycles);
  line.add(used ? fmt::format("{:.6f}", *used) : std::string());
  for (const uint64_t sum : {row.dram_read, row.dram_written, row.persistent_read, row.persistent_written, row.mxu_busy,
                             row.vpu_busy, row.dma_busy}) {
    line.add(report.per_invocation(sum));
  }
  line.add_text(limited_by(report, row));
  add_limits(report, row, line);
  add_roofline(report, row, line);
  add_run(report, line);
  return line.take();
}

}  // namespace

std::string to_csv(const Report& report) {
  std::string text = titles();
  for (const LayerRow& row : report.layers) text += csv_layer(report, row);
  return text;
}

}  // namespace npu::report
