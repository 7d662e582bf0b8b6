// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "driver/graph/text.h"
#include "sim/inspect/network_info.h"
#include "sim/inspect/open_network.h"
#include "sim/report/table.h"

namespace npu::inspect {
namespace {

using graph::Block;
using graph::TensorId;

std::string operator_text(const OpenNetwork& open, graph::OperatorPlace place) {
  const Block& block = open.block(place.region);
  const std::string text = graph::describe(block.operators[place.position], place.position);
  if (open.network.graph.regions.size() == 1) return text;
  return fmt::format("{} of block {}", text, graph::in_quotes(block.name));
}

// "INT8[x.0, 4]"
std::string type_text(const OpenNetwork& open, size_t region, TensorId id) {
  return fmt::format("{}{}", graph::name(open.block(region).tensors[id].type),
                     open.inference.open.text(open.inference.sizes[region][id]));
}

std::string entry(std::string_view title, std::string_view text) { return fmt::format("{:<11} {}\n", title, text); }

// A title before the first of several lines.
class Lines {
 public:
  explicit Lines(std::string_view title) : title_(title) {}
  void add(std::string_view line) { text_ += entry(text_.empty() ? title_ : "", line); }
  [[nodiscard]] std::string text() const { return text_.empty() ? entry(title_, "none") : text_; }

 private:
  std::string_view title_;
  std::string text_;
};

std::string ports_text(const OpenNetwork& open, std::string_view title, const std::vector<TensorId>& ids) {
  Lines lines(title);
  for (const TensorId id : ids) {
    const graph::Tensor& tensor = open.network.graph.main().tensors[id];
    const std::string& name = tensor.variable ? graph::variable_identity(tensor) : tensor.name;
    lines.add(fmt::format("{}  {}", graph::in_quotes(name), type_text(open, 0, id)));
  }
  return lines.text();
}

std::string symbols_text(const OpenNetwork& open) {
  Lines lines("open sizes");
  for (const graph::Symbol& symbol : open.inference.open.symbols()) {
    if (symbol.value) {
      lines.add(fmt::format("{} = {}   {}", symbol.name, open.inference.open.text(*symbol.value),
                            operator_text(open, symbol.because)));
    } else {
      lines.add(fmt::format("{}   from {} to {}{}", symbol.name, symbol.low, symbol.high,
                            symbol.of == graph::Symbol::Of::kResult ? ", and follows from nothing" : ""));
    }
  }
  return lines.text();
}

// What says no more than that a tensor has room is many, and seldom what a reader looks for: last.
bool is_room(const graph::Condition& condition) {
  return condition.relation == contract::SizeRelation::kAtLeast && condition.left.is_number();
}

std::string conditions_text(const OpenNetwork& open) {
  Lines lines("must hold");
  for (const bool room : {false, true}) {
    for (const graph::Condition& condition : open.inference.open.conditions()) {
      if (is_room(condition) != room) continue;
      lines.add(fmt::format("{}   {}", open.inference.open.text(condition), operator_text(open, condition.place)));
    }
  }
  return lines.text();
}

std::string tensors_text(const OpenNetwork& open) {
  std::vector<report::Row> rows;
  for (size_t region = 0; region < open.inference.sizes.size(); ++region) {
    const Block& block = open.block(region);
    for (TensorId id = 0; id < block.tensors.size(); ++id) {
      const graph::Tensor& tensor = block.tensors[id];
      if (tensor.has_data || tensor.type == graph::DType::kShape) continue;
      rows.push_back({graph::in_quotes(tensor.name), graph::printable(block.name), type_text(open, region, id)});
    }
  }
  return fmt::format("\n{}", report::render({{"tensor", true}, {"block", true}, {"sizes", true}}, rows));
}

std::string way_without_example(const OpenNetwork& open) {
  for (const graph::Symbol& symbol : open.inference.open.symbols()) {
    if (symbol.value || symbol.of != graph::Symbol::Of::kResult) continue;
    return fmt::format("\nThe file has to give size {}, which follows from nothing\n", symbol.name);
  }
  std::string options;
  const Block& main = open.block(0);
  for (const TensorId id : main.inputs) {
    if (graph::unknown_size(main.tensors[id]) == nullptr) continue;
    options += fmt::format(" --shape {}", graph::in_quotes(main.tensors[id].name + "=..."));
  }
  return fmt::format("\nNone of the sizes that were tried fit. Others may: npu resolve {}{} -o fixed.tosa\n",
                     open.network.path.string(), options);
}

// What a machine makes of it depends on the sizes.
std::string way_on(const OpenNetwork& open) {
  if (open.example.empty()) return way_without_example(open);
  std::string options;
  for (const auto& [name, shape] : open.example) {
    std::string sizes;
    for (const int64_t size : shape) sizes += fmt::format("{}{}", sizes.empty() ? "" : "x", size);
    options += fmt::format(" --shape {}", graph::in_quotes(name + "=" + sizes));
  }
  return fmt::format(
      "\nGive sizes for what a machine makes of it: npu resolve {}{} -o fixed.tosa, then npu info fixed.tosa\n",
      open.network.path.string(), options);
}

}  // namespace

std::string to_text(const OpenNetwork& open, bool tensors) {
  const workload::Network& network = open.network;
  const Block& main = network.graph.main();
  std::string text =
      entry("file", fmt::format("{}, {} bytes, TOSA {}", network.path.string(), report::grouped(network.file_bytes),
                                version_text(network.graph.version)));
  text += ports_text(open, "inputs", main.inputs);
  text += ports_text(open, "outputs", main.outputs);
  std::vector<TensorId> variables;
  for (TensorId id = 0; id < main.tensors.size(); ++id) {
    if (main.tensors[id].variable) variables.push_back(id);
  }
  text += ports_text(open, "variables", variables);
  text += symbols_text(open);
  text += conditions_text(open);
  text += entry("level", open.level == "8K" ? "8K, whose bounds are among them" : open.level);
  Lines unknown("no sizes");
  for (const graph::NoExpression& one : open.inference.without_expression) {
    unknown.add(fmt::format("{}: {}", operator_text(open, one.place), one.why));
  }
  if (!open.inference.without_expression.empty()) text += unknown.text();
  Lines operators("operators");
  for (const auto& [name, count] : open.operators) operators.add(fmt::format("{:>5}  {}", count, name));
  text += operators.text();
  if (tensors) text += tensors_text(open);
  return text + way_on(open);
}

}  // namespace npu::inspect
