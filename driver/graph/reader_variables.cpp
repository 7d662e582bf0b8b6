// SPDX-License-Identifier: Apache-2.0
#include "driver/graph/reader_variables.h"

#include <array>
#include <boost/crc.hpp>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>

namespace npu::graph {
namespace {

// The name in an operator's location: the text itself or, as MLIR prints it, loc("name") or loc("name"(where)).
// Empty for places in a source file, loc("net.mlir":5:10): those of other files are the same. Points into `location`.
std::string_view operator_name(std::string_view location) {
  constexpr std::string_view kStart = "loc(";
  if (!location.starts_with(kStart)) return location;
  location.remove_prefix(kStart.size());
  if (!location.starts_with('"')) return {};
  location.remove_prefix(1);
  const size_t end = location.find('"');
  if (end == std::string_view::npos || end + 1 == location.size()) return {};
  const char next = location[end + 1];
  return next == ')' || next == '(' ? location.substr(0, end) : std::string_view{};
}

bool is_nameless(const Tensor& tensor) { return tensor.variable && tensor.variable_name.empty(); }

// Names of the VARIABLE operators of nameless variables, by the tensor's name. Points into the graph.
std::map<std::string_view, std::string_view> names_of_declarations(const Graph& graph) {
  std::map<std::string_view, std::string_view> names;
  for (const Region& region : graph.regions) {
    for (const Block& block : region.blocks) {
      for (const Operator& op : block.operators) {
        if (op.op != Op::kVariable || op.outputs.empty() || !is_nameless(block.tensors[op.outputs[0]])) continue;
        const std::string_view name = operator_name(op.location);
        if (!name.empty()) names.emplace(block.tensors[op.outputs[0]].name, name);
      }
    }
  }
  // What names two variables names none.
  std::map<std::string_view, int> uses;
  for (const auto& [tensor, name] : names) ++uses[name];
  std::erase_if(names, [&](const auto& entry) { return uses.at(entry.second) > 1; });
  return names;
}

// "0badcafe/"
std::string private_prefix(std::span<const uint8_t> file) {
  boost::crc_32_type crc;
  crc.process_bytes(file.data(), file.size());
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "%08x/", static_cast<unsigned>(crc.checksum()));
  return text.data();
}

}  // namespace

void name_variables(Graph& graph, std::span<const uint8_t> file, Budget& budget) {
  const std::map<std::string_view, std::string_view> names = names_of_declarations(graph);
  std::string prefix;
  for (Region& region : graph.regions) {
    for (Block& block : region.blocks) {
      for (Tensor& tensor : block.tensors) {
        if (!is_nameless(tensor)) continue;
        const auto named = names.find(tensor.name);
        if (named == names.end() && prefix.empty()) prefix = private_prefix(file);
        tensor.variable_name = named != names.end() ? std::string(named->second) : prefix + tensor.name;
        budget.spend(tensor.variable_name.size());
      }
    }
  }
}

}  // namespace npu::graph
