// SPDX-License-Identifier: Apache-2.0
// A .tosa file as the commands use it: read and validated.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "driver/graph/graph.h"
#include "driver/graph/resolve.h"

namespace npu::workload {

// An input or output of the graph.
struct GraphPort {
  std::string name;
  graph::DType type = graph::DType::kUnknown;
  graph::Shape shape;
  // Feeds or leaves an unsigned RESCALE: its bits are those of unsigned numbers.
  bool is_unsigned = false;
};

struct Network {
  std::filesystem::path path;
  uint64_t file_bytes = 0;
  std::shared_ptr<const std::vector<uint8_t>> file;
  graph::Graph graph;
  bool was_open = false;  // the file leaves sizes open; those of the graph were given, or are open still
  // The graph with the sizes open, of load_network(); null where the file leaves none open.
  std::shared_ptr<const graph::Graph> open;
  // As the file has it, where operators compute shapes: the graph has constants in their place.
  std::optional<graph::Graph> declared;
  std::vector<GraphPort> inputs, outputs;
};

// Whether it is a file that starts as what `npu compile` writes.
[[nodiscard]] bool is_compiled(const std::filesystem::path& path);

// The shapes that a command has for a network whose file leaves sizes open, some of those of `inputs`, say.
using ShapeSource = std::function<graph::GivenShapes(const std::vector<GraphPort>& inputs)>;

// What to do about a graph that leaves sizes open.
using WayOut = std::function<std::string(const graph::Graph& open)>;

// `shapes` is asked when the file leaves sizes open; the network then is the one with those sizes. Inputs whose sizes
// the operators' rules decide need none. The graph is in the form that runs, without operators that compute shapes.
// Throws Error: what reading, validating and resolving throw; without `shapes`, feature_unsupported for a size that is
// open, with `way_out` behind it, which is npu resolve if there is none.
[[nodiscard]] Network load_network(const std::filesystem::path& path, const ShapeSource& shapes = {},
                                   const WayOut& way_out = {});

// Throws Error(bad_input) for one that is none of `names`, which are those of inputs and variables.
void require_names(const std::vector<std::string>& names, const graph::GivenShapes& given);

// Throws Error(bad_input), with what to do, for an input that leaves a size open (-1) and whose shape is not among
// those.
void require_shapes(const std::vector<GraphPort>& inputs, const graph::GivenShapes& given);

// As load_network(), but a graph whose file leaves sizes open stays so: as the file has it, validated as far as that
// needs no sizes.
[[nodiscard]] Network load_open_network(const std::filesystem::path& path);

// The same network with other sizes than load_network() was given. Throws what that throws for sizes that do not fit.
[[nodiscard]] Network with_sizes(const Network& network, const graph::GivenShapes& sizes);

// Variables by identity, as the graph's tensors declare them; those of blocks of control flow, too.
using Declarations = std::map<std::string, const graph::Tensor*>;
[[nodiscard]] Declarations declarations_of(const graph::Graph& graph);

// Of the file, as `sha256sum` prints it. Takes its time on large files.
[[nodiscard]] std::string sha256_of(const Network& network);

// Throws Error(kTypeUnsupported) naming the first variable of a type that TOSA 1.0 has no variables of.
void check_strict(const Network& network);

}  // namespace npu::workload
