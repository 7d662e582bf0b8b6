// SPDX-License-Identifier: Apache-2.0
// The support of operators as a table and as JSON.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <span>

#include "driver/graph/level.h"
#include "sim/inspect/operator_support.h"

namespace npu::inspect {
namespace {

using Json = nlohmann::ordered_json;

struct Names {
  graph::AttributeSet bit;
  std::array<const char*, 5> names;
};
constexpr std::array<Names, 19> kAttributeNames = {{
    {graph::kHasAxis, {"axis"}},
    {graph::kHasKernel, {"kernel"}},
    {graph::kHasStride, {"stride"}},
    {graph::kHasPad, {"pad"}},
    {graph::kHasDilation, {"dilation"}},
    {graph::kHasOutPad, {"out_pad"}},
    {graph::kHasPerms, {"perms"}},
    {graph::kHasAccType, {"acc_type"}},
    {graph::kHasLocalBound, {"local_bound"}},
    {graph::kHasLimits, {"min_val", "max_val"}},
    {graph::kHasNanMode, {"nan_mode"}},
    {graph::kHasRound, {"round"}},
    {graph::kHasResizeMode, {"mode"}},
    {graph::kHasRescale, {"scale32", "rounding_mode", "per_channel", "input_unsigned", "output_unsigned"}},
    {graph::kHasInverse, {"inverse"}},
    {graph::kHasBranches, {"then_graph", "else_graph"}},
    {graph::kHasLoop, {"cond_graph", "body_graph"}},
    {graph::kHasCustom, {"operator_name", "domain_name", "implementation_attrs"}},
    {graph::kHasAllowBroadcast, {"allow_broadcast"}},
}};

// "PRO-INT or PRO-FP, with EXT-VARIABLE"
std::string needs(const OperatorRow& row) {
  std::string text = fmt::format("{}", fmt::join(row.any_of, " or "));
  if (!row.all_of.empty()) text += fmt::format(", with {}", fmt::join(row.all_of, " and "));
  return text;
}

Json operands_json(const graph::OperatorInfo& entry, std::span<const graph::Operand> operands) {
  static constexpr std::array kKinds = {"tensor", "shape", "list", "shape_list"};
  Json list = Json::array();
  for (const graph::Operand& operand : operands) {
    Json types = Json::array();
    for (const graph::TypeRow& row : entry.types) {
      if (operand.slot != graph::Slot::kNone) types.push_back(name(row.types[static_cast<size_t>(operand.slot)]));
    }
    if (operand.fixed != graph::DType::kUnknown) types.push_back(name(operand.fixed));
    list.push_back({{"name", operand.name},
                    {"kind", kKinds[static_cast<size_t>(operand.kind)]},
                    {"types", types},
                    {"min_rank", operand.min_rank},
                    {"max_rank", operand.max_rank},
                    {"constant", operand.constant}});
  }
  return list;
}

Json to_json(const OperatorSupport& entry) {
  Json attributes = Json::array(), level = Json::array(), rows = Json::array();
  for (const Names& names : kAttributeNames) {
    if ((entry.info->attributes & names.bit) == 0) continue;
    for (const char* attribute : names.names) {
      if (attribute != nullptr) attributes.push_back(attribute);
    }
  }
  for (const graph::LevelBound& bound : graph::level_bounds(entry.info->op)) {
    level.push_back({{"quantity", bound.quantity}, {"most", graph::limits(graph::Level::k8K).*bound.most}});
  }
  for (const OperatorRow& row : entry.rows) {
    rows.push_back({{"types", row.types},
                    {"any_of", row.any_of},
                    {"all_of", row.all_of},
                    {"reference", row.reference},
                    {"engine", row.engine},
                    {"reason", row.reason}});
  }
  return {{"name", name(entry.info->op)},
          {"version", graph::is_shape_operator(entry.info->op) ? "1.1" : "1.0"},
          {"inputs", operands_json(*entry.info, entry.info->inputs)},
          {"outputs", operands_json(*entry.info, entry.info->outputs)},
          {"attributes", attributes},
          {"level_8k", level},
          {"rows", rows}};
}

}  // namespace

std::string to_text(const std::vector<OperatorSupport>& operators, const std::string& machine) {
  using Line = std::array<std::string, 5>;
  std::vector<Line> lines = {{"operator", "types", "profile or extension", "reference", "on " + machine}};
  for (const OperatorSupport& entry : operators) {
    for (const OperatorRow& row : entry.rows) {
      lines.push_back({std::string(&row == entry.rows.data() ? name(entry.info->op) : ""),
                       row.types.empty() ? "any" : row.types, needs(row), row.reference ? "yes" : "no",
                       row.engine.empty() ? "no" : row.engine});
    }
  }
  std::array<size_t, 4> width = {};  // of all columns but the last
  for (const Line& line : lines) {
    for (size_t i = 0; i < width.size(); ++i) width[i] = std::max(width[i], line[i].size());
  }
  std::string text;
  for (const Line& line : lines) {
    for (size_t i = 0; i < width.size(); ++i) text += fmt::format("{:<{}}  ", line[i], width[i]);
    text += line.back() + '\n';
  }
  return text;
}

std::string to_json_text(const std::vector<OperatorSupport>& operators, const std::string& machine,
                         const std::vector<FeatureSupport>& features) {
  Json list = Json::array();
  for (const OperatorSupport& entry : operators) list.push_back(to_json(entry));
  const Json document = {{"schema", "npu-operators"},
                         {"schema_version", 1},
                         {"machine", machine},
                         {"features", to_json(features)},
                         {"operators", std::move(list)}};
  return document.dump(2, ' ', true) + "\n";
}

}  // namespace npu::inspect
