// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/cosim_case.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "driver/graph/operators.h"
#include "driver/graph/text.h"
#include "hw/contract/error.h"
#include "hw/presets/preset.h"
#include "sim/cli/cosim_operator.h"
#include "sim/cli/name_filter.h"

namespace npu::cli {

namespace fs = std::filesystem;
using contract::ErrorCode;
using graph::in_quotes;

namespace {

// Where networks are looked for by name, in this order: the folders given, the list's, and the one into which the build
// imports networks.
std::vector<fs::path> network_folders(const CosimList& list, const CosimSelection& selection) {
  std::vector<fs::path> folders = selection.folders;
  folders.push_back(list.file.has_parent_path() ? list.file.parent_path() : fs::path("."));
  std::error_code ignored;
  const fs::path self = fs::read_symlink("/proc/self/exe", ignored);
  if (!ignored) folders.push_back(self.parent_path() / "networks");
  return folders;
}

// FOLDER/NAME.tosa or, as a zoo has them, FOLDER/NAME/NAME.tosa; empty when there is none.
fs::path find_network(const CosimList::Network& network, const std::vector<fs::path>& folders) {
  const std::string file = network.path + ".tosa";
  std::error_code ignored;
  for (const fs::path& folder : folders) {
    for (const fs::path& place : {folder / file, folder / network.path / (network.name + ".tosa")}) {
      if (fs::is_regular_file(place, ignored)) return fs::absolute(place);
    }
  }
  if (network.optional) return {};
  std::vector<std::string> names;
  for (const fs::path& folder : folders) names.push_back(in_quotes(folder.string()));
  throw Error(ErrorCode::kCannotRead,
              fmt::format("the network {} is in none of the folders {}; give its folder with --networks, or import it "
                          "with npu import",
                          in_quotes(network.path), fmt::join(names, ", ")));
}

void add_networks(const CosimList& list, const std::vector<fs::path>& files, const std::string& preset, uint64_t seed,
                  std::vector<CosimCase>& cases) {
  for (size_t i = 0; i < files.size(); ++i) {
    const CosimList::Network& network = list.networks[i];
    cases.push_back({fmt::format("network/{}/{}/{}", network.name, preset, seed), preset, seed,
                     NetworkCase{network.name, files[i], network.frames}});
  }
}

void add_operators(const CosimList& list, const std::vector<graph::Op>& runs, const std::string& preset, uint64_t seed,
                   std::vector<CosimCase>& cases) {
  for (const graph::Op op : runs) {
    cases.push_back({fmt::format("operator/{}/{}/{}", graph::name(op), preset, seed), preset, seed,
                     OperatorCase{op, list.operators->of_each}});
  }
}

void add_trials(const CosimList::TrialSet& set, bool held_back, const std::string& preset, uint64_t seed,
                std::vector<CosimCase>& cases) {
  for (uint64_t first = 0; first < set.count; first += set.batch) {
    const uint64_t count = std::min(set.batch, set.count - first);
    cases.push_back({fmt::format("trials/{}/{}/{}/{}/{}-{}", name(set.block), preset, held_back ? "held_back" : "ideal",
                                 seed, first, first + count - 1),
                     preset, seed, TrialCase{set.block, held_back, first, count}});
  }
}

// The operators of the list that the machine runs.
std::vector<graph::Op> operators_on(const CosimList& list, const contract::Capabilities& caps) {
  std::vector<graph::Op> runs = device_operators(caps);
  const std::vector<std::string>& only = list.operators->only;
  if (only.empty()) return runs;
  for (const std::string& wanted : only) {
    if (std::find(runs.begin(), runs.end(), graph::op_from_name(wanted)) != runs.end()) continue;
    throw Error(ErrorCode::kBadInput, fmt::format("{}: the device does not run the operator {} of 'operators: only'",
                                                  list.file.string(), wanted));
  }
  std::erase_if(runs, [&](graph::Op op) { return std::find(only.begin(), only.end(), graph::name(op)) == only.end(); });
  return runs;
}

std::vector<std::string> chosen_presets(const CosimList& list, const std::string& only) {
  if (only.empty()) return list.presets;
  if (std::find(list.presets.begin(), list.presets.end(), only) != list.presets.end()) return {only};
  throw Error(ErrorCode::kBadOption, fmt::format("--preset {} is not in the list, which has {}", in_quotes(only),
                                                 fmt::join(list.presets, ", ")));
}

std::vector<CosimCase> all_cases(const CosimList& list, const CosimSelection& selection) {
  const std::vector<fs::path> folders = network_folders(list, selection);
  std::vector<fs::path> files;
  for (const CosimList::Network& network : list.networks) files.push_back(find_network(network, folders));
  const std::vector<uint64_t> seeds = selection.seed ? std::vector{*selection.seed} : list.seeds;
  std::vector<CosimCase> cases;
  for (const std::string& preset : chosen_presets(list, selection.preset)) {
    const contract::Capabilities caps = presets::load_preset(preset).caps;
    const std::vector<graph::Op> runs = list.operators ? operators_on(list, caps) : std::vector<graph::Op>();
    for (const uint64_t seed : seeds) {
      add_networks(list, files, preset, seed, cases);
      add_operators(list, runs, preset, seed, cases);
      for (const CosimList::TrialSet& set : list.trials) {
        if (set.ideal) add_trials(set, false, preset, seed, cases);
        if (set.held_back) add_trials(set, true, preset, seed, cases);
      }
    }
  }
  return cases;
}

}  // namespace

std::vector<CosimCase> cosim_cases(const CosimList& list, const CosimSelection& selection) {
  const NameFilter only("--only", selection.only);
  std::vector<CosimCase> cases = all_cases(list, selection);
  const size_t in_all = cases.size();
  std::erase_if(cases, [&](const CosimCase& one) { return !only.matches(one.name); });
  if (cases.empty()) {
    throw Error(ErrorCode::kBadOption, fmt::format("none of the {} cases of {} matches", in_all, list.file.string()));
  }
  std::vector<CosimCase> shard;
  for (size_t i = selection.shard - 1; i < cases.size(); i += selection.shards) shard.push_back(std::move(cases[i]));
  return shard;
}

}  // namespace npu::cli
