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

// The sizes that the command has for those that the file leaves open.
graph::GivenShapes given_shapes(const graph::Graph& open, const ShapeSource& shapes) {
  const std::vector<GraphPort> inputs = ports(open.main(), open.main().inputs, {});
  graph::GivenShapes given = shapes(inputs);
  require_shapes(inputs, given);
  return given;
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

Network load_network(const std::filesystem::path& path, const ShapeSource& shapes, std::string_view way_out) {
  Network network = read_network(path);
  const bool open = graph::has_unknown_sizes(network.graph);
  network.was_open = open && shapes;
  // What is wrong with data or options is no matter of this file.
  const std::string way = open && !shapes ? fmt::format(" ({})", way_out) : "";
  if (network.was_open) {
    of_the_file(path, way, [&] { graph::validate(network.graph, graph::Sizes::kMayBeUnknown); });
    network.open = std::make_shared<const graph::Graph>(network.graph);
    const graph::GivenShapes given = given_shapes(network.graph, shapes);
    of_the_file(path, way, [&] { network.graph = graph::resolve(network.graph, given); });
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

void require_shapes(const std::vector<GraphPort>& inputs, const graph::GivenShapes& given) {
  for (const GraphPort& port : inputs) {
    const bool open = std::any_of(port.shape.begin(), port.shape.end(), [](int64_t size) { return size < 0; });
    if (!open || given.count(port.name) > 0) continue;
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
