// SPDX-License-Identifier: Apache-2.0
// The support of profiles and extensions as a table and as JSON.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/inspect/feature_support.h"

namespace npu::inspect {
namespace {

std::string title_of(const FeatureSupport& support) {
  return support.with.empty() ? support.feature : fmt::format("{} with {}", support.feature, support.with);
}

std::string count_of(const FeatureSupport& support, const FeatureCoverage& coverage) {
  const std::string rows = fmt::format("{} row{}", support.rows, support.rows == 1 ? "" : "s");
  return coverage.missing.empty() ? fmt::format("whole, {}", rows)
                                  : fmt::format("{} of {}", support.rows - coverage.missing.size(), rows);
}

// "ABS (2), ADD": the operators, with how many rows of each where there are several.
std::string operators_of(const std::vector<std::string>& rows) {
  std::vector<std::pair<std::string, int>> counts;
  for (const std::string& row : rows) {
    const std::string op = row.substr(0, row.find(':'));
    if (counts.empty() || counts.back().first != op) counts.emplace_back(op, 0);
    ++counts.back().second;
  }
  std::vector<std::string> texts;
  for (const auto& [op, count] : counts) texts.push_back(count == 1 ? op : fmt::format("{} ({})", op, count));
  return fmt::format("{}", fmt::join(texts, ", "));
}

// One line for all that lack the same rows, unless they lack all of them.
std::string missing_of(const FeatureSupport& support) {
  std::vector<std::pair<std::vector<std::string>, std::vector<std::string>>> groups;  // rows; who lacks them
  for (const FeatureCoverage& coverage : support.runners) {
    if (coverage.missing.empty() || coverage.missing.size() == support.rows) continue;
    const auto same =
        std::find_if(groups.begin(), groups.end(), [&](const auto& group) { return group.first == coverage.missing; });
    if (same != groups.end()) {
      same->second.push_back(coverage.runner);
    } else {
      groups.push_back({coverage.missing, {coverage.runner}});
    }
  }
  std::string text;
  for (const auto& [rows, runners] : groups) {
    text += fmt::format("{}, missing on {}: {}\n", title_of(support), fmt::join(runners, ", "), operators_of(rows));
  }
  return text;
}

}  // namespace

std::string to_text(const std::vector<FeatureSupport>& features) {
  std::vector<std::vector<std::string>> lines = {{"profile or extension", "status"}};
  for (const FeatureCoverage& coverage : features.front().runners) lines[0].push_back(coverage.runner);
  for (const FeatureSupport& support : features) {
    lines.push_back({title_of(support), std::string(name(support.status))});
    for (const FeatureCoverage& coverage : support.runners) lines.back().push_back(count_of(support, coverage));
  }
  std::vector<size_t> width(lines[0].size());
  for (const auto& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) width[i] = std::max(width[i], line[i].size());
  }
  std::string text;
  for (const auto& line : lines) {
    for (size_t i = 0; i + 1 < line.size(); ++i) text += fmt::format("{:<{}}  ", line[i], width[i]);
    text += line.back() + '\n';
  }
  std::string missing;
  for (const FeatureSupport& support : features) missing += missing_of(support);
  return missing.empty() ? text : text + '\n' + missing;
}

nlohmann::ordered_json to_json(const std::vector<FeatureSupport>& features) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const FeatureSupport& support : features) {
    nlohmann::ordered_json runners = nlohmann::ordered_json::array();
    for (const FeatureCoverage& coverage : support.runners) {
      runners.push_back({{"name", coverage.runner},
                         {"whole", coverage.missing.empty()},
                         {"runs", support.rows - coverage.missing.size()},
                         {"missing", coverage.missing}});
    }
    list.push_back({{"feature", support.feature},
                    {"with", support.with},
                    {"status", name(support.status)},
                    {"rows", support.rows},
                    {"runners", runners}});
  }
  return list;
}

}  // namespace npu::inspect
