// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/sized_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "driver/graph/text.h"
#include "sim/report/columns.h"
#include "sim/report/json.h"
#include "sim/report/table.h"

namespace npu::cli {

using report::grouped;

namespace {

using Json = nlohmann::ordered_json;

// "x [3, 4], state [3, 4]"
std::string shapes_in_words(const graph::GivenShapes& sizes) {
  std::string text;
  for (const auto& [name, shape] : sizes) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", graph::printable(name), graph::to_string(shape));
  }
  return text;
}

Json sizes_json(const graph::GivenShapes& sizes) {
  Json result = Json::object();
  for (const auto& [name, shape] : sizes) result[name] = shape;
  return result;
}

uint64_t cycles_of(const SizedRun& run) {
  uint64_t sum = 0;
  for (const SizedInvocation& invocation : run.invocations) sum += invocation.cycles;
  return sum;
}

std::string table_of(const SizedRun& run) {
  const bool timed = run.options.machine.timed();
  std::vector<report::Column> columns = {{"sizes", true}, {"invocations"}};
  // Of one compilation for all sizes, programs are loaded; no row has one of its own.
  const bool each = run.cache.compiled == 0;
  if (each) columns.push_back({"compiled"});
  columns.push_back({"program bytes"});
  if (timed) columns.insert(columns.end(), {{"cycles each"}, {"limited by", true}});
  std::vector<report::Row> rows;
  for (const SizedProgramRun& program : run.programs) {
    const report::Report& report = *program.report;
    report::Row row = {shapes_in_words(program.sizes), grouped(report.invocations)};
    if (each) row.push_back(grouped(program.compiled));
    row.push_back(grouped(program.bytes));
    if (timed) {
      row.push_back(grouped((report.cycles + report.invocations / 2) / report.invocations));
      row.push_back(report::limit_text(report.charge(), ""));
    }
    rows.push_back(std::move(row));
  }
  return report::render(std::move(columns), rows);
}

std::string cache_line(const SizedRun& run) {
  const specialise::CacheCounts& cache = run.cache;
  if (cache.compiled > 0) {
    return fmt::format("programs  {} of {} loaded, in {} bytes; compiled once for {}\n", grouped(cache.programs),
                       grouped(cache.compiled), grouped(cache.bytes), in_words(run.bounds));
  }
  const std::string limit =
      run.options.specialise ? fmt::format("limit {} bytes", grouped(*run.options.specialise)) : "no limit";
  return fmt::format("programs  {} hit{}, {} miss{}, {} eviction{}; {} in {} bytes at the end, {} bytes at most, {}\n",
                     grouped(cache.hits), cache.hits == 1 ? "" : "s", grouped(cache.misses),
                     cache.misses == 1 ? "" : "es", grouped(cache.evictions), cache.evictions == 1 ? "" : "s",
                     grouped(cache.programs), grouped(cache.bytes), grouped(cache.most_bytes), limit);
}

// All programs have the same variables, and each report has the state at the end.
std::string state_lines(const SizedRun& run) {
  std::string text;
  for (const report::VariableRow& row : run.programs.front().report->variables) {
    text += fmt::format("state     {} {}, {}\n", graph::printable(row.info.identity),
                        graph::describe_type(row.info.type, row.info.shape),
                        row.info.in_dram ? "in DRAM" : "in the persistent SRAM");
  }
  return text;
}

// Without what is counted over all invocations.
Json report_json(const report::Report& report) {
  Json document = Json::parse(report::to_json(report));
  document["persistent_sram"] = nullptr;
  return document;
}

Json programs_json(const SizedRun& run) {
  Json programs = Json::array();
  for (const SizedProgramRun& program : run.programs) {
    programs.push_back({{"sizes", sizes_json(program.sizes)},
                        {"invocations", program.report->invocations},
                        {"compiled", program.compiled},
                        {"bytes", program.bytes},
                        {"report", report_json(*program.report)}});
  }
  return programs;
}

Json invocations_json(const SizedRun& run) {
  Json invocations = Json::array();
  for (const SizedInvocation& invocation : run.invocations) {
    invocations.push_back({{"sizes", sizes_json(run.programs[invocation.program].sizes)},
                           {"program", invocation.program},
                           {"compiled", invocation.compiled},
                           {"cycles", invocation.cycles}});
  }
  return invocations;
}

Json bounds_json(const SizedRun& run) {
  Json bounds = Json::array();
  for (const compiler::SizeBounds& one : run.bounds) {
    bounds.push_back({{"name", one.name}, {"least", one.least}, {"most", one.most}});
  }
  return bounds;
}

Json cache_json(const SizedRun& run) {
  return {{"limit_bytes", run.options.specialise ? Json(*run.options.specialise) : Json()},
          {"hits", run.cache.hits},
          {"misses", run.cache.misses},
          {"compiled", run.cache.compiled},
          {"evictions", run.cache.evictions},
          {"programs", run.cache.programs},
          {"bytes", run.cache.bytes},
          {"most_bytes", run.cache.most_bytes}};
}

Json check_json(const SizedRun& run) {
  if (!run.check) return nullptr;
  return {{"against", "reference"},
          {"compared", run.check->compared},
          {"differing", run.check->differing},
          {"first", run.check->first.empty() ? Json() : Json(run.check->first)}};
}

}  // namespace

std::string in_words(const std::vector<compiler::SizeBounds>& bounds) {
  std::string text;
  for (const compiler::SizeBounds& one : bounds) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", graph::printable(one.name), one.least);
    if (one.most > one.least) text += fmt::format(" to {}", one.most);
  }
  return text;
}

std::string to_json_text(const SizedRun& run) {
  const Json document = {{"schema", "npu-sizes"},
                         {"schema_version", 1},
                         {"file", run.subject.network_file.string()},
                         {"sha256", run.subject.network_sha256()},
                         {"machine", run.subject.preset.name},
                         {"mode", run.options.machine.mode},
                         {"bounds", bounds_json(run)},
                         {"cycles", cycles_of(run)},
                         {"invocations", invocations_json(run)},
                         {"programs", programs_json(run)},
                         {"cache", cache_json(run)},
                         {"engines", report::to_json(run.engines, run.programs.front().report->info)},
                         {"persistent_sram", report::to_json(run.persistent_sram)},
                         {"check", check_json(run)}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

std::string to_text(const SizedRun& run) {
  std::string text = table_of(run) + "\n";
  if (run.options.machine.timed()) {
    const uint64_t cycles = cycles_of(run);
    text += fmt::format("total     {} cycles, {}\n", grouped(cycles),
                        report::duration(run.programs.front().report->microseconds(static_cast<double>(cycles))));
  }
  return text + cache_line(run) + report::back_end_lines(run.engines, run.persistent_sram) + state_lines(run);
}

}  // namespace npu::cli
