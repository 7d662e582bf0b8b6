// SPDX-License-Identifier: Apache-2.0
#include "sim/inspect/feature_support.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "sim/generator/operator_forms.h"
#include "sim/inspect/sample_support.h"

namespace npu::inspect {
namespace {

using generator::OperatorForm;
using graph::Features;

// The extension that a form needs last, and what it needs beside; 0: nothing.
using FeaturePair = std::pair<Features, Features>;

// A form counts for each of the profiles that allow it.
std::vector<FeaturePair> pairs_of(const OperatorForm& form) {
  std::vector<FeaturePair> pairs;
  for (uint32_t i = 0; i < graph::kFeatureCount; ++i) {
    const Features bit = 1u << i;
    if ((form.any_of & bit) == 0) continue;
    pairs.push_back(form.all_of == 0 ? FeaturePair{bit, 0} : FeaturePair{std::bit_floor(form.all_of), bit});
  }
  return pairs;
}

FeatureSupport empty_support(const FeaturePair& pair, const std::vector<presets::Preset>& machines) {
  FeatureSupport support;
  support.feature = graph::feature_name(pair.first);
  if (pair.second != 0) support.with = graph::feature_name(pair.second);
  support.status = graph::feature_status(pair.first);
  support.runners.push_back({"reference", {}});
  for (const presets::Preset& machine : machines) support.runners.push_back({machine.name, {}});
  return support;
}

// Whether the reference runs it, then the machines.
std::vector<bool> ask_all(const OperatorForm& form, const std::vector<presets::Preset>& machines) {
  std::vector<bool> runs = {reference_runs(form.sample)};
  for (const presets::Preset& machine : machines) {
    runs.push_back(ask_machine(form.info->op, form.sample.graph, machine).reason.empty());
  }
  return runs;
}

}  // namespace

std::vector<FeatureSupport> inspect_features(const std::vector<presets::Preset>& machines) {
  std::map<FeaturePair, FeatureSupport> supports;
  for (const OperatorForm& form : generator::operator_forms()) {
    if (form.info->op == graph::Op::kCustom) continue;  // is the implementation's: no profile asks for one
    const std::vector<bool> runs = ask_all(form, machines);
    const std::string text = fmt::format("{}: {}", name(form.info->op), form.text.empty() ? "any" : form.text);
    for (const FeaturePair& pair : pairs_of(form)) {
      FeatureSupport& support = supports.try_emplace(pair, empty_support(pair, machines)).first->second;
      ++support.rows;
      for (size_t i = 0; i < runs.size(); ++i) {
        if (!runs[i]) support.runners[i].missing.push_back(text);
      }
    }
  }
  std::vector<FeatureSupport> list;
  for (auto& [pair, support] : supports) list.push_back(std::move(support));
  return list;
}

std::vector<presets::Preset> built_in_machines() {
  std::vector<presets::Preset> machines;
  for (const std::string& name : presets::preset_names()) machines.push_back(presets::load_preset(name));
  return machines;
}

std::vector<presets::Preset> machines_with(const presets::Preset& other) {
  std::vector<presets::Preset> machines = built_in_machines();
  const auto twin = std::find_if(machines.begin(), machines.end(),
                                 [&](const presets::Preset& machine) { return machine.name == other.name; });
  const bool has_twin = twin != machines.end();
  if (has_twin && presets::to_yaml(*twin) == presets::to_yaml(other)) return machines;
  machines.push_back(other);
  if (has_twin) machines.back().name += " (file)";
  return machines;
}

}  // namespace npu::inspect
