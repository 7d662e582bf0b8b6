// SPDX-License-Identifier: Apache-2.0
#include "sim/report/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "driver/graph/text.h"
#include "sim/report/columns.h"

namespace npu::report {
namespace {

using contract::Counter;

constexpr size_t kLayerWidth = 26, kOperatorWidth = 18;

// Operator lists get long where many element-wise operators are fused.
std::string cut(const std::string& text, size_t limit) {
  return text.size() <= limit ? text : text.substr(0, limit - 3) + "...";
}

// Names of layers begin alike: the end tells them apart.
std::string cut_front(const std::string& text, size_t limit) {
  return text.size() <= limit ? text : "..." + text.substr(text.size() - (limit - 3));
}

// A layer's name as it stands in the file, on one line.
std::string shown(const std::string& name) { return graph::printable(name, name.size() + 1); }

std::string percent(uint64_t part, uint64_t whole, int digits) {
  const double share = whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  return fmt::format("{:.{}f} %", share, digits);
}

// Per invocation, rounded to whole units where several were averaged.
uint64_t average(uint64_t sum, uint64_t invocations) {
  return invocations == 0 ? 0 : (sum + invocations / 2) / invocations;
}

// Whose work a layer's row shows beside its own cycles.
constexpr std::array<std::pair<Resource, std::string_view>, 4> kShownBusy = {
    {{Resource::kMxu, "MXU"}, {Resource::kVpu, "VPU"}, {Resource::kDram, "DRAM"}, {Resource::kScratchpadPort, "port"}}};

std::vector<Column> layer_columns(bool timed) {
  std::vector<Column> columns = {{"layer", true}, {"operator", true}};
  if (timed) columns.insert(columns.end(), {{"cycles"}, {"share"}, {"at least"}});
  columns.push_back({"MACs"});
  if (timed) {
    for (const auto& [resource, title] : kShownBusy) columns.push_back({title});
  }
  columns.insert(columns.end(), {{"DRAM rd"}, {"DRAM wr"}});
  if (timed) columns.push_back({"limited by", true});
  return columns;
}

Row layer_row(const Report& report, const LayerRow& layer) {
  const uint64_t n = report.invocations;
  Row row = layer_cells(layer.layer);
  if (report.timed()) {
    const uint64_t bound = *std::max_element(layer.bounds.begin(), layer.bounds.end());
    row.insert(row.end(), {grouped(average(layer.cycles, n)), percent(layer.cycles, report.cycles, 1),
                           bound == 0 ? "-" : grouped(average(bound, n))});
  }
  row.push_back(layer.macs == 0 ? "-" : short_number(static_cast<double>(average(layer.macs, n))));
  if (report.timed()) {
    for (const auto& [resource, title] : kShownBusy) {
      const uint64_t busy = layer.charge.busy[static_cast<size_t>(resource)];
      row.push_back(busy == 0 ? "-" : percent(busy, layer.cycles, 0));
    }
  }
  const auto bytes = [&](uint64_t sum) { return sum == 0 ? "-" : short_number(static_cast<double>(average(sum, n))); };
  row.insert(row.end(), {bytes(layer.dram_read), bytes(layer.dram_written)});
  if (report.timed()) row.push_back(limited_by(report, layer));
  return row;
}

std::string layer_table(const Report& report) {
  std::vector<Row> rows;
  for (const LayerRow& layer : report.layers) rows.push_back(layer_row(report, layer));
  return render(layer_columns(report.timed()), rows);
}

std::string indented(const std::string& text, std::string_view title) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    result += fmt::format("{:<10}{}\n", result.empty() ? title : "", text.substr(at, end - at));
    at = end + 1;
  }
  return result;
}

// Of the whole job: what it waits for by resource and by cause.
std::string limit_lines(const Report& report) {
  if (!report.timed()) return "";
  const uint64_t n = report.invocations;
  const Charge charge = report.charge();
  const ResourceCycles bounds = report.bounds();
  std::vector<Row> rows;
  for (size_t i = 0; i < kResourceCount; ++i) {
    const auto cell = [&](uint64_t cycles) { return cycles == 0 ? "-" : grouped(average(cycles, n)); };
    const auto share = [&](uint64_t cycles) { return cycles == 0 ? "-" : percent(cycles, report.cycles, 1); };
    if (charge.limits[i] == 0 && charge.busy[i] == 0) continue;
    rows.push_back({std::string(words(static_cast<Resource>(i))), cell(charge.limits[i]), share(charge.limits[i]),
                    cell(charge.busy[i]), share(charge.busy[i]), cell(bounds[i])});
  }
  std::string text =
      indented(render({{"resource", true}, {"limits"}, {"share"}, {"busy"}, {"share"}, {"at least"}}, rows), "limits");
  std::vector<size_t> order;
  for (size_t i = 0; i < kCauseCount; ++i) {
    if (charge.causes[i] > 0) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return charge.causes[a] > charge.causes[b]; });
  std::string causes;
  for (const size_t i : order) {
    std::string key(name(static_cast<Cause>(i)));
    std::replace(key.begin(), key.end(), '_', ' ');
    causes += fmt::format("{}{} {}", causes.empty() ? "" : ", ", key, percent(charge.causes[i], report.cycles, 1));
  }
  return text + fmt::format("causes    {}\n", causes);
}

// The fewest cycles of an invocation, and how many times as many it took.
std::string bound_line(const Report& report) {
  const uint64_t n = report.invocations;
  const Bound& sum = report.bound;
  if (sum.cycles == 0) return "";
  const Bound mean{average(sum.cycles, n), average(sum.array, n), average(sum.dram, n), average(sum.dram_bytes, n)};
  const double times = static_cast<double>(report.cycles) / static_cast<double>(sum.cycles);
  const bool least = report.work_is_least();
  return fmt::format("bound     {}{}; the total is {}{:.2f} times that\n", least ? "at least " : "", bound_text(mean),
                     least ? "at most " : "", times);
}

// The same with what the chip can hold, where that is more.
std::string room_line(const Report& report) {
  if (!report.info.room || report.info.room->cycles * report.invocations <= report.bound.cycles) return "";
  const double times = static_cast<double>(report.cycles) / static_cast<double>(report.invocations) /
                       static_cast<double>(report.info.room->cycles);
  return fmt::format("          {}; the total is {:.2f} times that\n", room_text(*report.info.room), times);
}

// MACs and cycles of the MXU by format, where there are others than int8.
std::string format_lines(const Report& report) {
  const std::vector<FormatWork> formats = report.formats();
  std::string text;
  if (std::ranges::all_of(formats, [](const FormatWork& one) { return one.format == "i8"; })) return text;
  for (const FormatWork& one : formats) {
    text += fmt::format("\n          {}: {} MACs", one.format, grouped(average(one.macs, report.invocations)));
    if (report.timed()) {
      text += fmt::format(", on which the MXU works {} cycles", grouped(average(one.mxu_busy, report.invocations)));
    }
  }
  return text;
}

std::string total_lines(const Report& report) {
  const uint64_t n = report.invocations;
  const contract::Capabilities& caps = report.info.machine.caps;
  std::string text;
  const std::string per = n == 1 ? "" : fmt::format(" an invocation (average of {})", grouped(n));
  if (report.timed()) {
    const double mean = static_cast<double>(report.cycles) / static_cast<double>(n);
    text += fmt::format("total     {} cycles{} = {} at {} MHz\n", grouped(average(report.cycles, n)), per,
                        duration(report.microseconds(mean)), caps.clock_mhz);
    if (n > 1) {
      text += fmt::format("          least {}, most {}; {} cycles in all = {}\n", grouped(report.cycles_min),
                          grouped(report.cycles_max), grouped(report.cycles),
                          duration(report.microseconds(static_cast<double>(report.cycles))));
    }
    text += fmt::format("          {}\n{}", calibration_text(report), bound_line(report)) + room_line(report);
  } else {
    text += fmt::format("total     {} invocation{} in functional mode: no time\n", grouped(n), n == 1 ? "" : "s");
  }
  text += fmt::format("MACs      {}{}{}", report.work_is_least() ? "at least " : "",
                      grouped(average(report.macs_of_all(), n)), n == 1 ? "" : " an invocation");
  const std::optional<double> used = report.utilisation(report.macs_of_all(), report.cycles);
  if (report.timed() && used)
    text += fmt::format(", {:.1f} % of the int8 MACs that the MXU could do in that time", 100 * *used);
  text += format_lines(report);
  const uint64_t fetched = report.counters.get(contract::Queue::kSequencer, Counter::kDramRead);
  text +=
      fmt::format("\nDRAM      {} bytes read ({} of them commands), {} written{}\n",
                  grouped(average(report.counters.total(Counter::kDramRead), n)), grouped(average(fetched, n)),
                  grouped(average(report.counters.total(Counter::kDramWritten), n)), n == 1 ? "" : " an invocation");
  const uint64_t named = report.constants_bytes + report.workspace_bytes;
  const uint64_t rest = std::max(report.memory.dram_used, named) - named;
  text +=
      fmt::format("memory    scratchpad {} of {} bytes at most, DRAM {} bytes (constants {}, workspace {}, {} {})\n",
                  grouped(report.scratchpad_peak_bytes), grouped(caps.spm_bytes), grouped(report.memory.dram_used),
                  grouped(report.constants_bytes), grouped(report.workspace_bytes),
                  report.info.firmware.empty() ? "commands, data and records"
                                               : "commands, data and what is shared with the firmware",
                  grouped(rest));
  if (report.resident_bytes > 0) {
    text += fmt::format("constants {} bytes stay in the scratchpad; loaded {} time{}", grouped(report.resident_bytes),
                        grouped(report.loads), report.loads == 1 ? "" : "s");
    if (report.timed()) text += fmt::format(" in {} cycles beside the total", grouped(report.load_cycles));
    text += '\n';
  }
  if (report.events_lost > 0) {
    text +=
        fmt::format("records   {} commands completed without one: the buffer was full, and the rows above lack them\n",
                    grouped(report.events_lost));
  }
  return text;
}

std::string firmware_lines(const Report& report) {
  if (!report.firmware) return "";
  const FirmwareCost& cost = *report.firmware;
  const uint64_t n = report.invocations;
  const double mean = static_cast<double>(cost.cycles) / static_cast<double>(n);
  std::string text = fmt::format("firmware  {} busy cycles of the control CPU{} = {} at {} MHz\n",
                                 grouped(average(cost.cycles, n)), n == 1 ? "" : " an invocation",
                                 duration(report.cpu_microseconds(mean)), report.info.machine.caps.cpu_clock_mhz);
  text += fmt::format(
      "          {} device cycles from doorbell to completion, {} of them with the stream running: "
      "{:.1f} % of the time outside the engines\n",
      grouped(average(cost.device_cycles, n)), grouped(average(cost.engine_cycles, n)), 100 * cost.outside_engines());
  if (cost.preemptions > 0 || cost.blocked > 0) {
    text += fmt::format(
        "          preempted {} times, {} bytes saved and restored in {} cycles; blocked for {} cycles\n",
        grouped(cost.preemptions), grouped(cost.saved_bytes), grouped(cost.save_cycles), grouped(cost.blocked));
  }
  return text;
}

std::string engine_line(const EngineRun& run) {
  std::string unit(contract::name(run.engine));
  std::transform(unit.begin(), unit.end(), unit.begin(), [](unsigned char c) { return std::toupper(c); });
  if (run.back_end == "model") return fmt::format("{} on the model", unit);
  std::string text = fmt::format("{} {}: {} of {} tiles", unit, run.back_end == "rtl" ? "on RTL" : "in lockstep",
                                 grouped(run.rtl_tiles), grouped(run.tiles));
  if (run.elements_compared > 0) text += fmt::format(", 0 of {} elements differ", grouped(run.elements_compared));
  if (run.cycles_compared == 0) return text;
  text += fmt::format("; cycles of model and RTL equal in {}, requests for memory as scheduled in {}",
                      grouped(run.cycles_exact), grouped(run.same_requests));
  if (run.cycles_exact == run.cycles_compared) return text;
  return text +
         fmt::format(", mean absolute difference {:.2f}, worst {:+d}", run.cycles_mean_absolute, run.cycles_worst);
}

std::string persistent_sram_line(const PersistentRun& run) {
  if (run.back_end == "model") return "";
  std::string text =
      fmt::format("{:<10}{}: {} operations on the table, {} accesses", "psram",
                  run.back_end == "rtl" ? "on RTL" : "in lockstep", grouped(run.operations), grouped(run.accesses));
  if (run.compared > 0) text += fmt::format(", 0 of {} words, entries and answers differ", grouped(run.compared));
  text += fmt::format("; cycles of device and RTL equal in {}", grouped(run.cycles_exact));
  if (run.cycles_exact != run.cycles_compared) {
    text += fmt::format(" of {}, mean absolute difference {:.2f}, worst {:+d}", grouped(run.cycles_compared),
                        run.cycles_mean_absolute, run.cycles_worst);
  }
  return text + "\n";
}

// Nothing where the model alone ran, as it does unless asked otherwise.
std::string engine_lines(const std::vector<EngineRun>& engines) {
  if (std::all_of(engines.begin(), engines.end(), [](const EngineRun& run) { return run.back_end == "model"; })) {
    return "";
  }
  std::string text;
  for (const EngineRun& run : engines) {
    text += fmt::format("{:<10}{}\n", text.empty() ? "engines" : "", engine_line(run));
  }
  return text;
}

// "concat_101", or "concat_101 and 2 more".
std::string users_text(const Report& report, const VariableTraffic& traffic, VariableUse use) {
  std::string first;
  size_t more = 0;
  for (const VariableUser& user : traffic.users) {
    if (user.use != use) continue;
    if (first.empty()) {
      first = graph::printable(report.layer_name(user.layer));
    } else {
      ++more;
    }
  }
  return more == 0 ? first : fmt::format("{} and {} more", first, more);
}

// What an invocation moves, and who moves it.
std::string traffic_line(const Report& report, const VariableTraffic& traffic) {
  const auto part = [&](VariableUse use, std::string_view words, uint64_t bytes) {
    const std::string users = users_text(report, traffic, use);
    return users.empty() ? fmt::format("not {}", words)
                         : fmt::format("{} bytes {} by {}", grouped(average(bytes, report.invocations)), words, users);
  };
  return fmt::format("            {}, {}\n",
                     part(VariableUse::kRead, "read", traffic.bytes.sram_read + traffic.bytes.dram_read),
                     part(VariableUse::kWrite, "written", traffic.bytes.sram_written + traffic.bytes.dram_written));
}

std::string state_totals(const Report& report) {
  const uint64_t n = report.invocations;
  const StateBytes bytes = report.state_bytes();
  std::string text = fmt::format("          {} bytes read and {} written on chip", grouped(average(bytes.sram_read, n)),
                                 grouped(average(bytes.sram_written, n)));
  text += fmt::format(", {} and {} in DRAM{}", grouped(average(bytes.dram_read, n)),
                      grouped(average(bytes.dram_written, n)), n == 1 ? "" : " an invocation");
  if (report.timed()) {
    text += fmt::format("; these transfers take {} cycles, of which {} are charged to moving state",
                        grouped(average(report.state_cycles, n)), grouped(average(report.charged_to_state(), n)));
  }
  return text + '\n';
}

// What there is to say of a variable beside its declaration and place.
std::string variable_notes(const Report& report, const runtime::VariableInfo& variable) {
  std::string text;
  if (!variable.largest.empty()) text += fmt::format(", room for {}", graph::to_string(variable.largest));
  if (variable.in_dram) text += fmt::format(" of DRAM: {}", place_reason(report, variable));
  if (variable.double_buffered) text += ", two places";
  if (variable.torn) text += ", torn";
  if (!variable.is_written) text += ", never written";
  if (is_extension_type(variable.type)) text += ", a type beyond TOSA 1.0";
  return text;
}

std::string state_lines(const Report& report) {
  if (report.variables.empty()) return "state     none\n";
  uint64_t bytes = 0, in_dram = 0;
  for (const VariableRow& row : report.variables) (row.info.in_dram ? in_dram : bytes) += row.info.room;
  std::string text =
      fmt::format("state     {} variable{}, {} bytes of {} in persistent SRAM{}\n", report.variables.size(),
                  report.variables.size() == 1 ? "" : "s", grouped(bytes), grouped(report.memory.persistent_bytes),
                  in_dram == 0 ? "" : fmt::format(", {} bytes in DRAM", grouped(in_dram)));
  text += state_totals(report);
  for (const VariableRow& row : report.variables) {
    const runtime::VariableInfo& variable = row.info;
    text += fmt::format("          {} {}, {} bytes at {:#x}{}\n", graph::printable(variable.identity),
                        graph::describe_type(variable.type, variable.shape), grouped(variable.bytes), variable.offset,
                        variable_notes(report, variable));
    text += traffic_line(report, row.traffic);
  }
  return text;
}

}  // namespace

Row layer_cells(const compiler::Layer& layer) {
  return {cut_front(shown(layer.name), kLayerWidth), cut(layer.kind, kOperatorWidth)};
}

std::string grouped(uint64_t value) {
  std::string digits = std::to_string(value);
  for (int64_t at = static_cast<int64_t>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<size_t>(at), 1, ',');
  }
  return digits;
}

std::string short_number(double value) {
  constexpr std::array<std::string_view, 5> kUnits = {"", "k", "M", "G", "T"};
  size_t unit = 0;
  while (value >= 999.95 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  return unit == 0 ? fmt::format("{:.0f}", value) : fmt::format("{:.1f}{}", value, kUnits[unit]);
}

std::string duration(double microseconds) {
  if (microseconds >= 1e6) return fmt::format("{:.3f} s", microseconds / 1e6);
  if (microseconds >= 1e3) return fmt::format("{:.3f} ms", microseconds / 1e3);
  return fmt::format("{:.3f} us", microseconds);
}

std::string bound_text(const Bound& bound) {
  return fmt::format("{} cycles (MXU {}; DRAM {} for {} bytes that have to move)", grouped(bound.cycles),
                     grouped(bound.array), grouped(bound.dram), grouped(bound.dram_bytes));
}

std::string room_text(const RoomBound& room) {
  return fmt::format("{} cycles with what the chip holds: behind {} come {} bytes of weights, and it has room for {}",
                     grouped(room.cycles), graph::in_quotes(room.tensor), grouped(room.weight_bytes),
                     grouped(room.chip_bytes));
}

std::string back_end_lines(const std::vector<EngineRun>& engines, const PersistentRun& persistent_sram) {
  return engine_lines(engines) + persistent_sram_line(persistent_sram);
}

std::string to_table(const Report& report) {
  return layer_table(report) + '\n' + total_lines(report) + loop_lines(report) + limit_lines(report) +
         back_end_lines(report.engines, report.persistent_sram) + firmware_lines(report) + state_lines(report);
}

}  // namespace npu::report
