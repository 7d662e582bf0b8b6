// SPDX-License-Identifier: Apache-2.0
#include "sim/regression/case.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "driver/graph/operators.h"
#include "driver/graph/text.h"
#include "hw/contract/error.h"
#include "hw/presets/preset.h"
#include "sim/regression/operator_network.h"
#include "sim/tool/name_filter.h"

namespace npu::regression {

namespace fs = std::filesystem;
using contract::ErrorCode;
using graph::in_quotes;

namespace {

// Where networks are looked for by name, in this order: the folders given, the list's, and the one into which the build
// imports networks.
std::vector<fs::path> network_folders(const List& list, const Selection& selection) {
  std::vector<fs::path> folders = selection.folders;
  folders.push_back(list.file.has_parent_path() ? list.file.parent_path() : fs::path("."));
  std::error_code ignored;
  const fs::path self = fs::read_symlink("/proc/self/exe", ignored);
  if (!ignored) folders.push_back(self.parent_path() / "networks");
  return folders;
}

// FOLDER/NAME.tosa or, as a zoo has them, FOLDER/NAME/NAME.tosa; empty when there is none.
fs::path find_network(const List::Network& network, const std::vector<fs::path>& folders) {
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

std::vector<std::string> chosen_presets(const List& list, const std::string& only) {
  if (only.empty()) return list.presets;
  if (std::find(list.presets.begin(), list.presets.end(), only) != list.presets.end()) return {only};
  throw Error(ErrorCode::kBadOption, fmt::format("--preset {} is not in the list, which has {}", in_quotes(only),
                                                 fmt::join(list.presets, ", ")));
}

// The cases that are kept, before anything of them is looked up; what is not kept costs and complains nothing.
class Keeper {
 public:
  Keeper(const List& list, const Selection& selection)
      : list_(list), selection_(selection), only_("--only", selection.only) {}

  std::vector<Case> keep() {
    for (const std::string& preset : chosen_presets(list_, selection_.preset)) {
      preset_ = preset;
      caps_.reset();
      for (const uint64_t seed : selection_.seed ? std::vector{*selection_.seed} : list_.seeds) {
        seed_ = seed;
        runs_.resize(graph::kTensorOpCount);
        if (!selection_.trial) keep_networks();
        if (!selection_.trial && list_.operators) keep_operators();
        for (const List::TrialSet& set : list_.trials) {
          if (set.ideal) keep_trials(set, false);
          if (set.held_back) keep_trials(set, true);
        }
      }
      runs_.clear();
    }
    return std::move(cases_);
  }

 private:
  void keep_networks() {
    for (const List::Network& network : list_.networks) {
      const std::string name = fmt::format("network/{}/{}/{}", network.name, preset_, seed_);
      if (only_.matches(name)) cases_.push_back({name, preset_, seed_, NetworkCase{network.name, {}, network.frames}});
    }
  }

  void keep_operators() {
    const std::vector<std::string>& wanted = list_.operators->only;
    const auto is_wanted = [&](graph::Op op) {
      return wanted.empty() || std::find(wanted.begin(), wanted.end(), graph::name(op)) != wanted.end();
    };
    for (uint32_t i = 1; i < graph::kTensorOpCount; ++i) {
      const auto op = static_cast<graph::Op>(i);
      const std::string name = fmt::format("operator/{}/{}/{}", graph::name(op), preset_, seed_);
      if (!is_wanted(op) || !only_.matches(name)) continue;
      if (runs(op)) {
        cases_.push_back({name, preset_, seed_, OperatorCase{op, list_.operators->of_each}});
      } else if (!wanted.empty()) {
        throw Error(
            ErrorCode::kBadInput,
            fmt::format("{}: the device does not run the operator {} of 'operators: only' on integers or booleans",
                        list_.file.string(), graph::name(op)));
      }
    }
  }

  // By the batch that a trial belongs to, whose name the failure prints, even if only that trial is run.
  void keep_trials(const List::TrialSet& set, bool held_back) {
    const auto named = [&](uint64_t first, uint64_t count) {
      return fmt::format("trials/{}/{}/{}/{}/{}-{}", name(set.block), preset_, held_back ? "held_back" : "ideal", seed_,
                         first, first + count - 1);
    };
    for (uint64_t first = 0; first < set.count; first += set.batch) {
      const uint64_t count = std::min(set.batch, set.count - first);
      const auto& one = selection_.trial;
      if ((one && (*one < first || *one >= first + count)) || !only_.matches(named(first, count))) continue;
      const TrialCase work{set.block, held_back, one.value_or(first), one ? 1 : count};
      cases_.push_back({named(work.first, work.count), preset_, seed_, work});
    }
  }

  // Whether the machine runs the operator; the answer does not depend on the seed.
  bool runs(graph::Op op) {
    if (!caps_) caps_ = presets::load_preset(preset_).caps;
    std::optional<bool>& known = runs_[static_cast<size_t>(op)];
    if (!known) known = device_runs(op, *caps_);
    return *known;
  }

  const List& list_;
  const Selection& selection_;
  const tool::NameFilter only_;
  std::string preset_;
  uint64_t seed_ = 0;
  std::optional<contract::Capabilities> caps_;
  std::vector<std::optional<bool>> runs_;  // of the preset
  std::vector<Case> cases_;
};

// Files and machines of the cases, each looked up once.
void look_up(const List& list, const Selection& selection, std::vector<Case>& cases) {
  const std::vector<fs::path> folders = network_folders(list, selection);
  std::map<std::string, fs::path> files;
  std::set<std::string> machines;
  for (Case& one : cases) {
    if (machines.insert(one.preset).second) static_cast<void>(presets::load_preset(one.preset));
    auto* work = std::get_if<NetworkCase>(&one.work);
    if (work == nullptr) continue;
    const auto [file, is_new] = files.try_emplace(work->network);
    if (is_new) {
      const auto network = std::find_if(list.networks.begin(), list.networks.end(),
                                        [&](const List::Network& other) { return other.name == work->network; });
      file->second = find_network(*network, folders);
    }
    work->file = file->second;
  }
}

}  // namespace

std::vector<Case> cases_of(const List& list, const Selection& selection) {
  std::vector<Case> cases = Keeper(list, selection).keep();
  if (cases.empty()) {
    throw Error(ErrorCode::kBadOption,
                fmt::format("none of the cases of {} {}; --list alone names them", list.file.string(),
                            selection.trial ? fmt::format("that match has a trial {}", *selection.trial) : "matches"));
  }
  std::vector<Case> shard;
  for (size_t i = selection.shard - 1; i < cases.size(); i += selection.shards) shard.push_back(std::move(cases[i]));
  look_up(list, selection, shard);
  return shard;
}

}  // namespace npu::regression
