// SPDX-License-Identifier: Apache-2.0
// `npu operators`: the operators of TOSA with their types, and what the reference and a machine run of them.
#include "driver/graph/operators.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "driver/compiler/compile.h"
#include "driver/compiler/support.h"
#include "driver/graph/level.h"
#include "hw/contract/error.h"
#include "hw/presets/preset.h"
#include "sim/cli/command.h"
#include "sim/cli/options.h"
#include "sim/generator/operator_sample.h"
#include "sim/reference/call.h"
#include "sim/reference/reference.h"
#include "sim/tool/say.h"

namespace npu::cli {

namespace po = boost::program_options;
using contract::ErrorCode;
using tool::say;

namespace {

using Json = nlohmann::ordered_json;

constexpr CommandHelp kOperatorsHelp = {
    "npu operators [options]",
    "Prints the operators of TOSA 1.0 with each combination of types: the profiles and extensions that have it, and\n"
    "whether the software reference and a machine run it. The smallest network of an operator decides.",
    "  npu operators\n"
    "  npu operators --config nano\n"
    "  npu operators --json | jq '.operators[] | select(.name == \"CONV2D\")'\n"};

struct Names {
  graph::AttributeSet bit;
  std::array<const char*, 5> names;
};
constexpr std::array<Names, 18> kAttributeNames = {{
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
}};

// An operator with one combination of types.
struct OperatorRow {
  std::string types;  // empty: any
  std::vector<std::string> any_of, all_of;
  bool reference = false;
  std::string engine, reason;  // of the machine: an engine, or why not
};

struct Entry {
  const graph::OperatorInfo* info = nullptr;
  std::vector<OperatorRow> rows;
};

std::vector<std::string> names_of(graph::Features set) {
  std::vector<std::string> names;
  for (uint32_t i = 0; i < graph::kFeatureCount; ++i) {
    if ((set >> i & 1) != 0) names.emplace_back(graph::feature_name(1u << i));
  }
  return names;
}

bool is_refusal(const Error& error) {
  return error.exit_status() == contract::exit_status(ErrorCode::kOperatorUnsupported);
}

bool reference_runs(const generator::OperatorSample& sample) {
  reference::CustomOperators custom;
  custom.add("sample", "copy", [](reference::Call& call) { call.output(0).bytes = call.input(0).bytes; });
  reference::Context context;
  try {
    static_cast<void>(reference::run(sample.graph, sample.inputs, context, {}, {.custom = &custom}));
    return true;
  } catch (const Error& error) {
    if (!is_refusal(error)) throw;
    return false;
  }
}

void ask_machine(const graph::OperatorInfo& entry, const graph::Graph& sample, const presets::Preset& preset,
                 OperatorRow& row) {
  const auto rows = compiler::support(sample, preset.caps);
  const auto own = std::find_if(rows.begin(), rows.end(), [&](const auto& r) { return r.name == name(entry.op); });
  if (own != rows.end() && !own->ok) {
    row.reason = own->reason;
    return;
  }
  try {
    static_cast<void>(compiler::compile(sample, preset.caps));
    row.engine = own != rows.end() ? own->engine : "constant";
  } catch (const Error& error) {
    if (!is_refusal(error)) throw;
    row.reason = error.what();
  }
}

OperatorRow row_of(const graph::OperatorInfo& entry, const graph::TypeRow* types, const presets::Preset& preset) {
  OperatorRow row;
  if (types != nullptr) row.types = describe_row(entry, *types);
  row.any_of = names_of(types != nullptr ? types->any_of : entry.any_of);
  row.all_of = names_of(types != nullptr ? types->all_of : 0);
  const generator::OperatorSample sample = generator::sample_of(entry, types);
  row.reference = reference_runs(sample);
  ask_machine(entry, sample.graph, preset, row);
  return row;
}

std::vector<Entry> collect(const presets::Preset& preset) {
  std::vector<Entry> entries;
  for (uint32_t i = 1; i < graph::kOpCount; ++i) {
    Entry entry{&graph::info(static_cast<graph::Op>(i)), {}};
    for (const graph::TypeRow& types : entry.info->types) entry.rows.push_back(row_of(*entry.info, &types, preset));
    if (entry.info->types.empty()) entry.rows.push_back(row_of(*entry.info, nullptr, preset));
    entries.push_back(std::move(entry));
  }
  return entries;
}

// "PRO-INT or PRO-FP, with EXT-VARIABLE"
std::string needs(const OperatorRow& row) {
  std::string text = fmt::format("{}", fmt::join(row.any_of, " or "));
  if (!row.all_of.empty()) text += fmt::format(", with {}", fmt::join(row.all_of, " and "));
  return text;
}

void print_text(const std::vector<Entry>& entries, const std::string& machine) {
  using Line = std::array<std::string, 5>;
  std::vector<Line> lines = {{"operator", "types", "profile or extension", "reference", "on " + machine}};
  for (const Entry& entry : entries) {
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
  for (const Line& line : lines) {
    for (size_t i = 0; i < width.size(); ++i) say("{:<{}}  ", line[i], width[i]);
    say("{}\n", line.back());
  }
}

Json operands_json(const graph::OperatorInfo& entry, std::span<const graph::Operand> operands) {
  static constexpr std::array kKinds = {"tensor", "shape", "list"};
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

Json to_json(const Entry& entry) {
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
          {"inputs", operands_json(*entry.info, entry.info->inputs)},
          {"outputs", operands_json(*entry.info, entry.info->outputs)},
          {"attributes", attributes},
          {"level_8k", level},
          {"rows", rows}};
}

void print_json(const std::vector<Entry>& entries, const std::string& machine) {
  Json list = Json::array();
  for (const Entry& entry : entries) list.push_back(to_json(entry));
  const Json document = {
      {"schema", "npu-operators"}, {"schema_version", 1}, {"machine", machine}, {"operators", std::move(list)}};
  say("{}\n", document.dump(2, ' ', true));
}

}  // namespace

int run_operators(const Arguments& arguments) {
  po::options_description options, hidden;
  options.add_options()  //
      ("config,c", po::value<std::string>()->default_value("edge")->value_name("NAME|FILE"),
       config_help().c_str())  //
      ("json", po::bool_switch(), "print JSON");
  const auto values = parse(arguments, kOperatorsHelp, options, hidden, {});
  if (!values) return 0;
  const presets::Preset preset = presets::load_preset((*values)["config"].as<std::string>());
  const std::vector<Entry> entries = collect(preset);
  if ((*values)["json"].as<bool>()) {
    print_json(entries, preset.name);
  } else {
    print_text(entries, preset.name);
  }
  return 0;
}

}  // namespace npu::cli
