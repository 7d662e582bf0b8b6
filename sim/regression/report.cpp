// SPDX-License-Identifier: Apache-2.0
#include "sim/regression/report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sim/report/columns.h"
#include "sim/report/table.h"
#include "sim/tool/junit.h"

namespace npu::regression {
namespace {

using Json = nlohmann::ordered_json;
using report::grouped;
using report::Row;

constexpr size_t kShownCases = 20;
constexpr Outcome kOutcomes[] = {Outcome::kPassed, Outcome::kFailed, Outcome::kBroken, Outcome::kNotRun,
                                 Outcome::kMissing};

// The kind of a case, which is also its suite: "network", "operator" or the block.
std::string suite_of(const Case& one) {
  if (const auto* trials = std::get_if<TrialCase>(&one.work)) return std::string(name(trials->block));
  return std::holds_alternative<NetworkCase>(one.work) ? "network" : "operator";
}

std::string first_ones(const RegressionRun& run, Outcome outcome) {
  std::string text;
  size_t found = 0;
  for (size_t i = 0; i < run.results.size(); ++i) {
    const Result& result = run.results[i];
    if (result.outcome != outcome || ++found > kShownCases) continue;
    text += fmt::format("{}: {}: {}\n", name(outcome), run.cases[i].name, tool::printable(result.reason));
    if (!result.bundle.empty()) text += fmt::format("        npu replay {}\n", result.bundle);
  }
  if (found > kShownCases) text += fmt::format("{}: and {} more\n", name(outcome), grouped(found - kShownCases));
  return text;
}

std::string device_table(const RegressionRun& run) {
  std::vector<Row> rows;
  for (size_t i = 0; i < run.results.size(); ++i) {
    const Result& result = run.results[i];
    const DeviceNumbers& d = result.device;
    if (std::holds_alternative<TrialCase>(run.cases[i].work)) continue;
    Row row = {run.cases[i].name, name(result.outcome)};
    row.insert(row.end(),
               {grouped(d.compared), grouped(d.differing), grouped(d.elements), grouped(d.tiles), grouped(d.exact)});
    row.push_back(d.model_cycles ? grouped(*d.model_cycles) : "-");
    const bool both = d.model_cycles && d.rtl_cycles;
    row.push_back(both ? fmt::format("{:+d}", static_cast<int64_t>(*d.rtl_cycles - *d.model_cycles)) : "-");
    rows.push_back(std::move(row));
  }
  if (rows.empty()) return "";
  return report::render({{"network or operator", true},
                         {"outcome", true},
                         {"outputs"},
                         {"differing"},
                         {"in lockstep"},
                         {"tiles"},
                         {"exact cycles"},
                         {"device cycles"},
                         {"on RTL"}},
                        rows) +
         "\n";
}

void add_block_row(const BlockNumbers& block, const char* memory, const TrialNumbers& n, std::vector<Row>& rows) {
  if (n.trials == 0) return;
  Row row = {std::string(name(block.block)),
             block.preset,
             memory,
             grouped(n.trials),
             grouped(n.compared),
             grouped(n.differing),
             fmt::format("{:.2f} %", 100 * n.cycles.share_exact()),
             fmt::format("{:.3f}", n.cycles.mean_absolute()),
             fmt::format("{:+d}", n.cycles.worst),
             grouped(n.port_differences)};
  const cosim::CycleComparison& h = n.device;
  row.push_back(h.count == 0 ? "-" : fmt::format("{:+.1f} ({:+.1f} %)", h.mean(), 100 * h.relative()));
  row.push_back(h.count == 0 ? "-" : fmt::format("{:+d} ({:+.1f} %)", h.worst, 100 * h.worst_relative));
  rows.push_back(std::move(row));
}

std::string block_table(const RegressionRun& run) {
  std::vector<Row> rows;
  for (const BlockNumbers& block : by_block(run)) {
    add_block_row(block, "ideal", block.ideal, rows);
    add_block_row(block, "held back", block.held_back, rows);
  }
  if (rows.empty()) return "";
  return report::render({{"block", true},
                         {"preset", true},
                         {"memory", true},
                         {"trials"},
                         {"compared"},
                         {"differing"},
                         {"exact cycles"},
                         {"mean error"},
                         {"worst"},
                         {"other requests"},
                         {"device, mean"},
                         {"worst"}},
                        rows) +
         "\n";
}

Json to_json(const cosim::CycleComparison& cycles) {
  if (cycles.count == 0) return nullptr;
  return {{"compared", cycles.count},
          {"exact", cycles.exact},
          {"share_exact", cycles.share_exact()},
          {"rtl", cycles.rtl},
          {"mean_absolute", cycles.mean_absolute()},
          {"mean", cycles.mean()},
          {"worst", cycles.worst},
          {"relative", cycles.relative()},
          {"worst_relative", cycles.worst_relative}};
}

Json to_json(const TrialNumbers& numbers) {
  if (numbers.trials == 0) return nullptr;
  Json kinds = Json::array();
  for (const auto& [kind, trials] : numbers.kinds) kinds.push_back({{"kind", kind}, {"trials", trials}});
  return {{"trials", numbers.trials},
          {"failed", numbers.failed},
          {"compared", numbers.compared},
          {"differing", numbers.differing},
          {"port_differences", numbers.port_differences},
          {"cycles", to_json(numbers.cycles)},
          {"device", to_json(numbers.device)},
          {"kinds", kinds}};
}

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json to_json(const DeviceNumbers& numbers) {
  return {{"invocations", numbers.invocations},
          {"compared", numbers.compared},
          {"differing", numbers.differing},
          {"elements_in_lockstep", numbers.elements},
          {"tiles", numbers.tiles},
          {"tiles_exact", numbers.exact},
          {"tiles_same_requests", numbers.same_requests},
          {"model_cycles", or_null(numbers.model_cycles)},
          {"rtl_cycles", or_null(numbers.rtl_cycles)}};
}

Json to_json(const Case& one, const Result& result) {
  const bool trials = std::holds_alternative<TrialCase>(one.work);
  const bool ran = result.outcome != Outcome::kNotRun && result.outcome != Outcome::kMissing;
  return {{"name", one.name},
          {"suite", suite_of(one)},
          {"preset", one.preset},
          {"seed", one.seed},
          {"outcome", name(result.outcome)},
          {"reason", result.reason},
          {"bundle", result.bundle},
          {"device", ran && !trials ? to_json(result.device) : Json(nullptr)},
          {"trials", ran && trials ? to_json(result.trials) : Json(nullptr)}};
}

tool::JunitCase to_junit(const Case& one, const Result& result) {
  using Result = tool::JunitCase::Result;
  tool::JunitCase junit{suite_of(one), one.name, Result::kPassed, name(result.outcome), result.reason, {}};
  if (!result.bundle.empty()) junit.message += "; npu replay " + result.bundle;
  if (result.outcome == Outcome::kFailed) junit.result = Result::kFailure;
  if (result.outcome == Outcome::kBroken) junit.result = Result::kError;
  if (result.outcome == Outcome::kNotRun || result.outcome == Outcome::kMissing) {
    junit.result = Result::kSkipped;
  }
  return junit;
}

}  // namespace

std::string to_table(const RegressionRun& run) {
  std::string text = device_table(run) + block_table(run);
  for (const Outcome outcome : {Outcome::kFailed, Outcome::kBroken, Outcome::kMissing}) {
    const std::string lines = first_ones(run, outcome);
    if (!lines.empty()) text += lines + "\n";
  }
  text += fmt::format("{} case{}", grouped(run.cases.size()), run.cases.size() == 1 ? "" : "s");
  const char* before = ": ";
  for (const Outcome outcome : kOutcomes) {
    const uint64_t number = count(run, outcome);
    if (number == 0) continue;
    std::string words = name(outcome);
    if (outcome == Outcome::kNotRun) words = "not run (no time was left)";
    text += fmt::format("{}{} {}", before, grouped(number), words);
    before = ", ";
  }
  return text + "\n";
}

std::string to_json_text(const RegressionRun& run) {
  Json document = {
      {"schema", "npu-cosim"}, {"schema_version", kSchemaVersion}, {"list", run.list}, {"cases", run.cases.size()}};
  for (const Outcome outcome : kOutcomes) document[name(outcome)] = count(run, outcome);
  Json blocks = Json::array(), results = Json::array();
  for (const BlockNumbers& block : by_block(run)) {
    blocks.push_back({{"block", name(block.block)},
                      {"preset", block.preset},
                      {"seeds", block.seeds},
                      {"ideal", to_json(block.ideal)},
                      {"held_back", to_json(block.held_back)}});
  }
  for (size_t i = 0; i < run.cases.size(); ++i) results.push_back(to_json(run.cases[i], run.results[i]));
  document["blocks"] = std::move(blocks);
  document["results"] = std::move(results);
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string to_junit_text(const RegressionRun& run) {
  std::vector<tool::JunitCase> cases;
  for (size_t i = 0; i < run.cases.size(); ++i) cases.push_back(to_junit(run.cases[i], run.results[i]));
  return tool::junit("cosim", cases);
}

}  // namespace npu::regression
