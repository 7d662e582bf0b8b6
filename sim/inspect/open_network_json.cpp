// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "sim/inspect/network_info.h"
#include "sim/inspect/open_network.h"

namespace npu::inspect {
namespace {

using Json = nlohmann::ordered_json;
using graph::Block;
using graph::Dims;
using graph::TensorId;

Json dims_json(const OpenNetwork& open, const Dims& dims) {
  Json list = Json::array();
  for (const graph::Dim& dim : dims) {
    if (const auto number = dim.number()) {
      list.push_back(*number);
    } else {
      list.push_back(open.inference.open.text(dim));
    }
  }
  return list;
}

Json place_json(const OpenNetwork& open, graph::OperatorPlace place) {
  const Block& block = open.block(place.region);
  return {{"block", block.name}, {"index", place.position}, {"name", graph::name(block.operators[place.position].op)}};
}

Json ports_json(const OpenNetwork& open, const std::vector<TensorId>& ids,
                const std::vector<workload::GraphPort>& ports) {
  Json list = Json::array();
  for (size_t i = 0; i < ids.size(); ++i) {
    list.push_back({{"name", ports[i].name},
                    {"type", graph::name(ports[i].type)},
                    {"shape", ports[i].shape},
                    {"sizes", dims_json(open, open.inference.sizes[0][ids[i]])},
                    {"unsigned", ports[i].is_unsigned}});
  }
  return list;
}

}  // namespace

std::string to_json_text(const OpenNetwork& open) {
  const workload::Network& network = open.network;
  const graph::OpenSizes& sizes = open.inference.open;
  Json symbols = Json::array(), conditions = Json::array(), unknown = Json::array(), tensors = Json::array();
  static constexpr const char* kKinds[] = {"input", "variable", "result"};
  for (const graph::Symbol& symbol : sizes.symbols()) {
    Json one = {{"name", symbol.name}, {"of", kKinds[static_cast<size_t>(symbol.of)]},
                {"least", symbol.low}, {"most", symbol.high},
                {"value", nullptr},    {"demanded_by", nullptr}};
    if (symbol.value) {
      one["value"] = sizes.text(*symbol.value);
      one["demanded_by"] = place_json(open, symbol.because);
    }
    symbols.push_back(one);
  }
  for (const graph::Condition& condition : sizes.conditions()) {
    conditions.push_back({{"text", sizes.text(condition)}, {"demanded_by", place_json(open, condition.place)}});
  }
  for (const graph::NoExpression& one : open.inference.without_expression) {
    unknown.push_back({{"operator", place_json(open, one.place)}, {"why", one.why}});
  }
  for (size_t region = 0; region < open.inference.sizes.size(); ++region) {
    const Block& block = open.block(region);
    for (TensorId id = 0; id < block.tensors.size(); ++id) {
      const graph::Tensor& tensor = block.tensors[id];
      if (tensor.has_data || tensor.type == graph::DType::kShape) continue;
      tensors.push_back({{"block", block.name},
                         {"name", tensor.name},
                         {"type", graph::name(tensor.type)},
                         {"sizes", dims_json(open, open.inference.sizes[region][id])}});
    }
  }
  Json operators = Json::array();
  for (const auto& [name, count] : open.operators) operators.push_back({{"name", name}, {"count", count}});
  Json example = Json::object();
  for (const auto& [name, shape] : open.example) example[name] = shape;
  const Block& main = network.graph.main();
  const Json document = {{"schema", "npu-info"},
                         {"schema_version", 1},
                         {"file", network.path.string()},
                         {"sha256", workload::sha256_of(network)},
                         {"file_bytes", network.file_bytes},
                         {"tosa_version", version_text(network.graph.version)},
                         {"inputs", ports_json(open, main.inputs, network.inputs)},
                         {"outputs", ports_json(open, main.outputs, network.outputs)},
                         {"operators", operators},
                         {"open_sizes",
                          {{"level", open.level},
                           {"symbols", symbols},
                           {"must_hold", conditions},
                           {"without_expression", unknown},
                           {"tensors", tensors},
                           {"example", example}}}};
  return document.dump(2, ' ', true, Json::error_handler_t::replace) + "\n";
}

}  // namespace npu::inspect
