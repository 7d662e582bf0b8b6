// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/network.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "driver/graph/file.h"
#include "driver/graph/infer.h"
#include "driver/graph/reader.h"
#include "driver/graph/text.h"
#include "driver/graph/validate.h"
#include "driver/program_file/program_file.h"
#include "hw/contract/error.h"
#include "sim/report/sha256.h"
#include "sim/report/state.h"

namespace npu::workload {
namespace {

using graph::Block;
using graph::Op;
using graph::Operator;
using graph::TensorId;

// The reader takes no more either.
constexpr uintmax_t kMaxNetwork = uintmax_t{2} << 30;

// Enough to tell kinds of files apart.
constexpr uintmax_t kHeadBytes = 16;

// Operators that pass the bits of their first operand on.
bool passes_bits(Op op) { return op == Op::kReshape || op == Op::kIdentity || op == Op::kTranspose; }

// Tensors that an unsigned RESCALE reads, or whose bits go to one unchanged.
std::set<TensorId> feeding_unsigned(const Block& block) {
  std::set<TensorId> found;
  for (auto op = block.operators.rbegin(); op != block.operators.rend(); ++op) {
    if (op->inputs.empty()) continue;
    const bool rescale = op->op == Op::kRescale && op->attributes.input_unsigned;
    if (rescale || (passes_bits(op->op) && found.count(op->outputs[0]) > 0)) found.insert(op->inputs[0]);
  }
  return found;
}

// Tensors that an unsigned RESCALE makes, or whose bits come from one unchanged.
std::set<TensorId> leaving_unsigned(const Block& block) {
  std::set<TensorId> found;
  for (const Operator& op : block.operators) {
    if (op.inputs.empty() || op.outputs.empty()) continue;
    const bool rescale = op.op == Op::kRescale && op.attributes.output_unsigned;
    if (rescale || (passes_bits(op.op) && found.count(op.inputs[0]) > 0)) found.insert(op.outputs[0]);
  }
  return found;
}

std::vector<GraphPort> ports(const Block& block, const std::vector<TensorId>& ids,
                             const std::set<TensorId>& unsigned_ids) {
  std::vector<GraphPort> result;
  for (const TensorId id : ids) {
    const graph::Tensor& tensor = block.tensors[id];
    result.push_back({tensor.name, tensor.type, tensor.shape, unsigned_ids.count(id) > 0});
  }
  return result;
}

// The commonest of files that are no .tosa, or no longer.
void refuse_other_files(const std::filesystem::path& path, std::span<const uint8_t> bytes) {
  if (program_file::is_program_file(bytes)) {
    throw Error(contract::ErrorCode::kFileDamaged,
                fmt::format("{} is a compiled program, but the network is needed here: give the .tosa file that it was "
                            "compiled from (a compiled program runs with npu run)",
                            graph::in_quotes(path.string())));
  }
  const std::string_view head(reinterpret_cast<const char*>(bytes.data()), std::min<size_t>(bytes.size(), 8));
  const std::string ending = path.extension().string();
  const bool tflite = head.size() == 8 && head.substr(4) == "TFL3";
  if (!tflite && !head.starts_with("ML\xefR") && ending != ".mlir") return;
  throw Error(contract::ErrorCode::kFileDamaged,
              fmt::format("{} is {}, not a .tosa file: convert it with npu import {} -o network.tosa",
                          graph::in_quotes(path.string()), tflite ? "a TensorFlow Lite file" : "MLIR",
                          graph::printable(path.string(), path.string().size())));
}

bool is_open(const graph::Shape& shape) {
  return std::any_of(shape.begin(), shape.end(), [](int64_t size) { return size < 0; });
}

Network read_network(const std::filesystem::path& path) {
  Network network;
  network.path = path;
  network.file = std::make_shared<const std::vector<uint8_t>>(graph::read_file(path, kMaxNetwork));
  network.file_bytes = network.file->size();
  refuse_other_files(path, *network.file);
  network.graph = graph::parse_tosa(network.file, path.string());
  if (graph::has_shape_operators(network.graph)) network.declared = network.graph;
  return network;
}

// `way_out` is for what is unsupported.
template <typename Check>
void of_the_file(const std::filesystem::path& path, const std::string& way_out, Check check) {
  try {
    check();
  } catch (const Error& error) {
    const bool unsupported = error.code() == contract::ErrorCode::kFeatureUnsupported;
    throw Error(error.code(),
                fmt::format("{}: {}{}", graph::in_quotes(path.string()), error.what(), unsupported ? way_out : ""));
  }
}

// The sizes that the command has for those that the file leaves open, and those that the operators' rules decide.
graph::GivenShapes given_shapes(const Network& open, const ShapeSource& shapes) {
  const Block& main = open.graph.main();
  std::vector<GraphPort> inputs = ports(main, main.inputs, {});
  graph::GivenShapes given = shapes(inputs);
  std::vector<std::string> names;
  for (const GraphPort& input : inputs) names.push_back(input.name);
  for (const auto& [name, declaration] : declarations_of(open.graph)) names.push_back(name);
  require_names(names, given);
  const bool complete = std::none_of(inputs.begin(), inputs.end(), [&](const GraphPort& input) {
    return is_open(input.shape) && given.count(input.name) == 0;
  });
  if (complete) return given;
  graph::GivenShapes decided;
  of_the_file(open.path, "", [&] { decided = graph::decided_inputs(open.graph); });
  for (GraphPort& input : inputs) {
    if (is_open(input.shape)) input.shape = decided.at(input.name);
  }
  require_shapes(inputs, given);
  for (const GraphPort& input : inputs) {
    if (decided.count(input.name) > 0) given.emplace(input.name, input.shape);
  }
  return given;
}

// With the sizes that the operators' rules decide, if these are all; otherwise as it is.
graph::Graph resolved_by_rules(graph::Graph open) {
  const graph::GivenShapes decided = graph::decided_inputs(open);
  if (graph::leave_open(decided)) return open;
  try {
    return graph::resolve(open, decided);
  } catch (const Error& error) {
    if (error.code() != contract::ErrorCode::kBadInput) throw;
    return open;  // a variable's size is still to be given
  }
}

void list_ports(Network& network) {
  const Block& block = network.graph.main();
  network.inputs = ports(block, block.inputs, feeding_unsigned(block));
  network.outputs = ports(block, block.outputs, leaving_unsigned(block));
}

}  // namespace

bool is_compiled(const std::filesystem::path& path) {
  try {
    return program_file::is_program_file(graph::read_head(path, UINTMAX_MAX, kHeadBytes));
  } catch (const Error&) {
    return false;  // what reads the file says why it cannot
  }
}

Network load_network(const std::filesystem::path& path, const ShapeSource& shapes, const WayOut& way_out) {
  Network network = read_network(path);
  network.was_open = graph::has_unknown_sizes(network.graph);
  if (network.was_open) {
    of_the_file(path, "", [&] { graph::validate(network.graph, graph::Sizes::kMayBeUnknown); });
    network.open = std::make_shared<const graph::Graph>(network.graph);
  }
  if (network.was_open && shapes) {
    // What is wrong with data or options is no matter of this file.
    const graph::GivenShapes given = given_shapes(network, shapes);
    of_the_file(path, "", [&] { network.graph = graph::resolve(network.graph, given); });
  } else if (network.was_open) {
    of_the_file(path, "", [&] { network.graph = resolved_by_rules(std::move(network.graph)); });
  }
  std::string way;
  if (graph::has_unknown_sizes(network.graph)) {
    way = fmt::format(" ({})", way_out ? way_out(network.graph) : "npu resolve makes a file with fixed sizes");
  }
  of_the_file(path, way, [&] { network.graph = graph::static_form(std::move(network.graph)); });
  list_ports(network);
  return network;
}

Network load_open_network(const std::filesystem::path& path) {
  Network network = read_network(path);
  network.was_open = graph::has_unknown_sizes(network.graph);
  of_the_file(path, "", [&] {
    if (network.was_open) {
      graph::validate(network.graph, graph::Sizes::kMayBeUnknown);
    } else {
      network.graph = graph::static_form(std::move(network.graph));
    }
  });
  list_ports(network);
  return network;
}

void require_names(const std::vector<std::string>& names, const graph::GivenShapes& given) {
  constexpr size_t kMostNames = 8;
  for (const auto& [name, shape] : given) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    std::string known;
    for (size_t i = 0; i < std::min(names.size(), kMostNames); ++i) {
      known += (i == 0 ? "" : ", ") + graph::in_quotes(names[i]);
    }
    throw Error(contract::ErrorCode::kBadInput,
                fmt::format("the network has no input and no variable {}; there are {}{}", graph::in_quotes(name),
                            names.empty() ? "none" : known, names.size() > kMostNames ? " and others" : ""));
  }
}

void require_shapes(const std::vector<GraphPort>& inputs, const graph::GivenShapes& given) {
  for (const GraphPort& port : inputs) {
    if (!is_open(port.shape) || given.count(port.name) > 0) continue;
    std::string example;
    for (const int64_t size : port.shape) {
      example += fmt::format("{}{}", example.empty() ? "=" : "x", size < 0 ? 8 : size);
    }
    throw Error(contract::ErrorCode::kBadInput,
                fmt::format("the file leaves a size of input {} open ({}): give its shape, with --shape {} say",
                            graph::in_quotes(port.name), graph::describe_type(port.type, port.shape),
                            graph::in_quotes(port.name + example)));
  }
}

Network with_sizes(const Network& network, const graph::GivenShapes& sizes) {
  Network result = network;
  const graph::Graph& open = network.open ? *network.open : network.graph;
  of_the_file(network.path, "", [&] { result.graph = graph::static_form(graph::resolve(open, sizes)); });
  list_ports(result);
  return result;
}

Declarations declarations_of(const graph::Graph& graph) {
  Declarations declarations;
  for (const graph::Region& region : graph.regions) {
    for (const Block& block : region.blocks) {
      for (const graph::Tensor& tensor : block.tensors) {
        if (tensor.variable) declarations.try_emplace(graph::variable_identity(tensor), &tensor);
      }
    }
  }
  return declarations;
}

std::string sha256_of(const Network& network) {
  report::Sha256 hash;
  hash.add(network.file->data(), network.file->size());
  return hash.hex();
}

void check_strict(const Network& network) {
  for (const graph::Region& region : network.graph.regions) {
    for (const Block& block : region.blocks) {
      for (const graph::Tensor& tensor : block.tensors) {
        if (!tensor.variable || !report::is_extension_type(tensor.type)) continue;
        throw Error(contract::ErrorCode::kTypeUnsupported,
                    fmt::format("variable {} is {}, but TOSA 1.0 has variables of INT8, FP16 and FP32 only; run it "
                                "without --strict",
                                graph::in_quotes(graph::variable_identity(tensor)), graph::name(tensor.type)));
      }
    }
  }
}

}  // namespace npu::workload
