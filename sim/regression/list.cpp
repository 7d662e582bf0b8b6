// SPDX-License-Identifier: Apache-2.0
#include "sim/regression/list.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "driver/graph/operators.h"
#include "driver/graph/text.h"
#include "sim/regression/yaml_map.h"

namespace npu::regression {
namespace {

using cosim::Block;
using graph::in_quotes;

constexpr size_t kMostBytes = size_t{1} << 20;
constexpr uint64_t kMostFrames = 100'000, kMostOfEach = 100;
constexpr uint64_t kMostTrials = uint64_t{1} << 32;
// Small enough that several threads share the work, large enough that one is not only a report.
constexpr uint64_t kBatch = 250;
// A case's name, with room for the rest of it, names a folder.
constexpr size_t kMostName = 200, kMostPath = 4000;

// The values of a list, each of them once.
template <class T, class Read>
std::vector<T> distinct(const YamlValue& list, Read read) {
  std::vector<T> values;
  std::set<T> seen;
  for (const YamlValue& item : list.items()) {
    values.push_back(read(item));
    if (!seen.insert(values.back()).second) {
      item.fail(fmt::format("{} stands there twice", in_quotes(fmt::format("{}", values.back()))));
    }
  }
  return values;
}

// What becomes part of a case's name, which stands in tables, on terminals and for folders.
std::string read_name(const YamlValue& item, size_t most) {
  std::string text = item.text();
  if (text.size() > most) item.fail(fmt::format("a name takes at most {} characters, not {}", most, text.size()));
  const bool good = std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~' && c != '|'; });
  if (!good)
    item.fail(fmt::format("the name {} has characters other than printable ASCII without '|'", in_quotes(text)));
  return text;
}

void read_place(const YamlValue& item, List::Network& network) {
  constexpr std::string_view kEnding = ".tosa";
  network.path = read_name(item, kMostPath);
  if (network.path.ends_with(kEnding)) network.path.erase(network.path.size() - kEnding.size());
  network.name = network.path.substr(network.path.rfind('/') + 1);
  if (network.name.empty()) item.fail(fmt::format("{} is no name of a network", in_quotes(item.text())));
  if (network.name.size() > kMostName) {
    item.fail(fmt::format("a network's name takes at most {} characters, not {}", kMostName, network.name.size()));
  }
}

List::Network read_network(const YamlValue& item) {
  List::Network network;
  if (!item.is_map()) {
    read_place(item, network);
    return network;
  }
  item.check_keys({"name", "frames", "optional"});
  read_place(item.at("name"), network);
  if (item.has("frames")) network.frames = static_cast<int64_t>(item.at("frames").number(1, kMostFrames));
  if (item.has("optional")) network.optional = item.at("optional").truth();
  return network;
}

std::vector<List::Network> read_networks(const YamlValue& list) {
  std::vector<List::Network> networks;
  std::set<std::string> names;
  for (const YamlValue& item : list.items()) {
    networks.push_back(read_network(item));
    const std::string& name = networks.back().name;
    if (!names.insert(name).second) item.fail(fmt::format("the network {} stands there twice", in_quotes(name)));
  }
  return networks;
}

std::string read_operator(const YamlValue& item) {
  const std::string name = item.text();
  const graph::Op op = graph::op_from_name(name);
  if (op == graph::Op::kUnknown) {
    item.fail(fmt::format("{} is no operator of TOSA; npu operators lists them", in_quotes(name)));
  }
  if (graph::is_shape_operator(op)) {
    item.fail(fmt::format("{} computes a shape, which is a constant before anything runs; leave it out", name));
  }
  return name;
}

List::Operators read_operators(const YamlValue& map) {
  map.check_keys({"of_each", "only"});
  List::Operators operators;
  if (map.has("of_each")) operators.of_each = static_cast<uint32_t>(map.at("of_each").number(1, kMostOfEach));
  if (map.has("only")) operators.only = distinct<std::string>(map.at("only"), read_operator);
  return operators;
}

Block read_block(const YamlValue& value) {
  const std::string text = value.text();
  const auto* block = std::find_if(std::begin(cosim::kBlocks), std::end(cosim::kBlocks),
                                   [&](Block candidate) { return name(candidate) == text; });
  if (block != std::end(cosim::kBlocks)) return *block;
  std::vector<std::string_view> names;
  for (const Block candidate : cosim::kBlocks) names.push_back(name(candidate));
  value.fail(fmt::format("there is no block {}; there are {}", in_quotes(text), fmt::join(names, ", ")));
}

void read_memory(const YamlValue& value, List::TrialSet& set) {
  const std::string text = value.text();
  if (text != "ideal" && text != "held_back" && text != "both") {
    value.fail(fmt::format("'memory' is ideal, held_back or both, not {}", in_quotes(text)));
  }
  set.ideal = text != "held_back";
  set.held_back = text != "ideal";
}

std::vector<List::TrialSet> read_trials(const YamlValue& list) {
  std::vector<List::TrialSet> sets;
  for (const YamlValue& item : list.items()) {
    item.check_keys({"block", "count", "memory", "batch"});
    List::TrialSet set;
    set.block = read_block(item.at("block"));
    set.count = item.at("count").number(1, kMostTrials);
    set.batch = item.has("batch") ? item.at("batch").number(1, kMostTrials) : kBatch;
    if (item.has("memory")) read_memory(item.at("memory"), set);
    const bool again =
        std::any_of(sets.begin(), sets.end(), [&](const auto& other) { return other.block == set.block; });
    if (again) item.fail(fmt::format("the block {} stands there twice", in_quotes(name(set.block))));
    sets.push_back(set);
  }
  return sets;
}

// Cases of each preset and seed, at most: the machine may not run all operators.
class CaseCount {
 public:
  explicit CaseCount(const List& list) : combinations_(list.presets.size() * list.seeds.size()) {}

  void add(uint64_t cases, const YamlValue& from) {
    each_ += cases;
    if (each_ <= kMostCases / combinations_) return;
    from.fail(fmt::format("the list makes more than {} cases, with this key up to {} for each of {} presets and seeds",
                          kMostCases, each_, combinations_));
  }

 private:
  uint64_t combinations_, each_ = 0;
};

void check_count(const List& list, const YamlValue& root) {
  CaseCount count(list);
  if (!list.networks.empty()) count.add(list.networks.size(), root.at("networks"));
  if (list.operators) {
    const std::vector<std::string>& only = list.operators->only;
    count.add(only.empty() ? graph::kTensorOpCount - 1 : only.size(), root.at("operators"));
  }
  if (list.trials.empty()) return;
  const std::vector<YamlValue> items = root.at("trials").items();
  for (size_t i = 0; i < items.size(); ++i) {
    const List::TrialSet& set = list.trials[i];
    const uint64_t batches = (set.count - 1) / set.batch + 1;
    count.add(batches * (set.ideal && set.held_back ? 2 : 1), items[i].at("count"));
  }
}

}  // namespace

List read_list(const std::filesystem::path& file) {
  const YamlValue root = YamlValue::read(file, kMostBytes);
  root.check_keys({"presets", "seeds", "networks", "operators", "trials"});
  List list;
  list.file = file;
  list.presets =
      distinct<std::string>(root.at("presets"), [](const YamlValue& item) { return read_name(item, kMostName); });
  list.seeds = distinct<uint64_t>(root.at("seeds"), [](const YamlValue& item) { return item.number(0, kMostSeed); });
  if (root.has("networks")) list.networks = read_networks(root.at("networks"));
  if (root.has("operators")) list.operators = read_operators(root.at("operators"));
  if (root.has("trials")) list.trials = read_trials(root.at("trials"));
  if (list.networks.empty() && !list.operators && list.trials.empty()) {
    root.fail("the list has no networks, operators or trials");
  }
  check_count(list, root);
  return list;
}

}  // namespace npu::regression
