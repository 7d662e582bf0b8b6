// SPDX-License-Identifier: Apache-2.0
#include "sim/conformance/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>

#include "sim/report/table.h"
#include "sim/tool/junit.h"

namespace npu::conformance {
namespace {

using Json = nlohmann::ordered_json;
using report::grouped;

constexpr std::array kOutcomes = {"passed", "failed", "unsupported", "broken"};
constexpr size_t kShown = 20;

const char* name(Outcome outcome) { return kOutcomes[static_cast<size_t>(outcome)]; }

struct Counts {
  std::array<uint64_t, kOutcomes.size()> of{};

  void add(Outcome outcome) { ++of[static_cast<size_t>(outcome)]; }
  [[nodiscard]] uint64_t total() const { return of[0] + of[1] + of[2] + of[3]; }
};

using CountsByName = std::map<std::string, Counts>;

std::string operator_of(const Result& result) {
  return result.test.operator_name.empty() ? "(unnamed)" : result.test.operator_name;
}

Counts totals(const std::vector<Result>& results) {
  Counts counts;
  for (const Result& result : results) counts.add(result.verdict.outcome);
  return counts;
}

CountsByName by_operator(const std::vector<Result>& results) {
  CountsByName counts;
  for (const Result& result : results) counts[operator_of(result)].add(result.verdict.outcome);
  return counts;
}

// A test counts for each profile and extension that it names.
CountsByName by_requirement(const std::vector<Result>& results) {
  CountsByName counts;
  for (const Result& result : results) {
    for (const std::string& requirement : result.test.requirements) counts[requirement].add(result.verdict.outcome);
  }
  return counts;
}

std::string row(const std::string& first, const Counts& counts) {
  return fmt::format("{:<28} {:>8} {:>8} {:>8} {:>12} {:>8}\n", first, grouped(counts.total()), grouped(counts.of[0]),
                     grouped(counts.of[1]), grouped(counts.of[2]), grouped(counts.of[3]));
}

std::string rows(const char* title, const CountsByName& by_name) {
  if (by_name.empty()) return "";
  std::string text = fmt::format("{:<28} {:>8} {:>8} {:>8} {:>12} {:>8}\n", title, "tests", "passed", "failed",
                                 "unsupported", "broken");
  for (const auto& [first, counts] : by_name) text += row(tool::printable(first), counts);
  return text + "\n";
}

std::string first_ones(const std::vector<Result>& results, Outcome outcome) {
  std::string text;
  size_t found = 0;
  for (const Result& result : results) {
    if (result.verdict.outcome != outcome || ++found > kShown) continue;
    text += fmt::format("{}: {}: {}\n", name(outcome), tool::printable(result.name),
                        tool::printable(result.verdict.reason));
  }
  if (found > kShown) text += fmt::format("{}: and {} more\n", name(outcome), grouped(found - kShown));
  return text;
}

Json to_json(const Counts& counts) {
  Json object = {{"tests", counts.total()}};
  for (size_t i = 0; i < kOutcomes.size(); ++i) object[kOutcomes[i]] = counts.of[i];
  return object;
}

Json to_json(const CountsByName& by_name) {
  Json list = Json::array();
  for (const auto& [first, counts] : by_name) {
    Json entry = {{"name", first}};
    entry.update(to_json(counts));
    list.push_back(std::move(entry));
  }
  return list;
}

tool::JunitCase to_junit(const Result& result) {
  tool::JunitCase one{operator_of(result),          result.name,           tool::JunitCase::Result::kPassed,
                      name(result.verdict.outcome), result.verdict.reason, result.seconds};
  if (result.verdict.outcome == Outcome::kBroken) {
    one.result = tool::JunitCase::Result::kError;
  } else if (result.verdict.outcome != Outcome::kPassed) {
    one.result = tool::JunitCase::Result::kFailure;
  }
  return one;
}

}  // namespace

bool all_passed(const std::vector<Result>& results) { return totals(results).of[0] == results.size(); }

std::string to_table(const std::vector<Result>& results) {
  std::string text;
  for (const Outcome outcome : {Outcome::kFailed, Outcome::kUnsupported, Outcome::kBroken}) {
    const std::string lines = first_ones(results, outcome);
    if (!lines.empty()) text += lines + "\n";
  }
  text += rows("operator", by_operator(results)) + rows("profile or extension", by_requirement(results));
  return text + row("all", totals(results));
}

std::string to_json_text(const std::vector<Result>& results, const std::string& machine) {
  Json document = {{"schema", "npu-conformance"},
                   {"schema_version", kSchemaVersion},
                   {"on", machine.empty() ? "reference" : "device"}};
  if (!machine.empty()) document["machine"] = machine;
  document.update(to_json(totals(results)));
  document["operators"] = to_json(by_operator(results));
  document["requirements"] = to_json(by_requirement(results));
  Json list = Json::array();
  for (const Result& result : results) {
    list.push_back({{"name", result.name},
                    {"operator", operator_of(result)},
                    {"types", result.verdict.types},
                    {"requirements", result.test.requirements},
                    {"expected_failure", result.test.expected_failure},
                    {"outcome", name(result.verdict.outcome)},
                    {"reason", result.verdict.reason}});
  }
  document["results"] = std::move(list);
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string to_junit_text(const std::vector<Result>& results) {
  std::vector<tool::JunitCase> cases;
  for (const Result& result : results) cases.push_back(to_junit(result));
  return tool::junit("conformance", cases);
}

}  // namespace npu::conformance
