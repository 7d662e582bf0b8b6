// SPDX-License-Identifier: Apache-2.0
// Writes networks with inputs for a comparison with the official model, a folder each:
//   make_cases integer|float|control FIRST COUNT FOLDER   random graphs of these seeds
//   make_cases open FIRST COUNT FOLDER                    random graphs that leave sizes open, as many, from this seed
//   on make_cases state FOLDER                               the table of networks with variables and control flow
//   below
// Each folder has network.tosa, the inputs as .npy, and case.json: inputs, outputs with types and tolerances, and the
// variables; whether the official model may crash on it. One that leaves sizes open has the inputs in folders 0, 1 and
// so on, and their shapes in case.json; those of 0 fit it. Those that the official tools are known to get wrong or not
// to take come in between, in folders more_SEED, and are not among the COUNT. A network with several steps gives at
// last what each of its variables holds at the end, in their order.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <string>

#include "driver/graph/builder.h"
#include "driver/graph/file.h"
#include "driver/graph/float_format.h"
#include "driver/graph/npy.h"
#include "driver/graph/writer.h"
#include "hw/contract/error.h"
#include "sim/generator/random_control.h"
#include "tests/system/official/float_graph.h"
#include "tests/system/sized/random_open.h"
#include "tests/unit/compiler/front_check.h"
#include "tests/unit/compiler/random_graph.h"
#include "tests/unit/reference/variable_script.h"

namespace {

namespace fs = std::filesystem;
using namespace npu::graph;
using nlohmann::json;
using npu::test::Tolerance;

constexpr int kSteps = 3;                // of a network with variables
constexpr int kSizes = 4;                // of one that leaves sizes open
constexpr uint32_t kOneOfImages = 5;     // of those, one of so many has convolutions
constexpr uint32_t kOneOfReshapes = 19;  // and one of so many RESHAPEs that leave sizes open

struct Named {
  const char* name;
  npu::reference::test::Script script;
};

// The language is that of variable_script.h. Every read comes after a write or has an initial value: what is left open
// is an error of its own, tested elsewhere. The last read tells what the variable holds at the end. "*3(I) R" is not
// here: the official model crashes on it.
const Named kScripts[] = {
    {"read", {.text = "R", .initial = 9}},
    {"write_then_read", {.text = "W5 R"}},
    {"read_then_write", {.text = "R W5 R", .initial = 9}},
    {"update", {.text = "I R", .initial = 0}},
    {"two_updates", {.text = "I I R", .shape = {2, 3}, .initial = 4}},
    {"two_writes", {.text = "W1 R W2 R", .type = DType::kInt8, .shape = {2, 3}}},
    {"branch_of_constants", {.text = "W5 ?(|) R"}},
    {"loop_that_counts", {.text = "W5 *3() R"}},
    {"loop_without_iterations", {.text = "W5 *0() R"}},
    {"loop_in_a_branch", {.text = "W5 ?(*3()|) R"}},
    {"nested_branches", {.text = "W5 ?(?(|)|?(|)) R"}},
    {"branch_in_a_loop", {.text = "W5 *2(?(|)) R"}},
    {"read_in_a_branch", {.text = "W5 ?(R|) R"}},
    {"written_in_both_branches", {.text = "I ?(W5|W6) R", .initial = 0}},
    {"written_in_one_branch", {.text = "I ?(W5|) R", .initial = 0}},
    {"counted_in_a_loop", {.text = "R *3(I) R", .initial = 0}},
    {"counted_in_a_loop_after_a_write", {.text = "W4 *3(I) R"}},
    {"read_and_counted_in_a_loop", {.text = "*2(R I) R", .initial = 0}},
    {"written_in_a_loop", {.text = "*2(W5) R", .initial = 0}},
    {"branch_that_counts_twice_in_a_loop", {.text = "*2(?(I|I)) R", .initial = 0}},
    {"loop_in_a_branch_counts", {.text = "?(*3(I)|I) R", .initial = 0}},
    {"branch_in_a_loop_counts", {.text = "*3(?(I|)) R", .initial = 0}},
};

// The same result twice would be the same file twice.
void make_outputs_unique(Block& block) {
  std::vector<TensorId> unique;
  for (const TensorId id : block.outputs) {
    if (std::find(unique.begin(), unique.end(), id) == unique.end()) unique.push_back(id);
  }
  block.outputs = unique;
}

// The official model refuses a tensor that no operator names.
void read_unused_variables(Block& block) {
  for (size_t id = 0, count = block.tensors.size(); id < count; ++id) {
    const auto names_it = [id](const Operator& op) {
      return std::count(op.inputs.begin(), op.inputs.end(), id) + std::count(op.outputs.begin(), op.outputs.end(), id) >
             0;
    };
    if (!block.tensors[id].variable || std::any_of(block.operators.begin(), block.operators.end(), names_it)) continue;
    Tensor value;
    value.name = "value_of_" + block.tensors[id].name;
    value.type = block.tensors[id].type;
    value.shape = block.tensors[id].shape;
    block.tensors.push_back(value);
    block.operators.push_back(
        {Op::kVariableRead, {}, {static_cast<TensorId>(id)}, {static_cast<TensorId>(block.tensors.size() - 1)}, {}});
  }
}

// The official model takes variables of several blocks for one where the tensors have one name.
void name_variables_alike(Graph& graph) {
  for (Region& region : graph.regions) {
    for (Tensor& tensor : region.blocks.front().tensors) {
      if (tensor.variable) tensor.name = variable_identity(tensor);
    }
  }
}

// The official model refuses a COND_IF without results.
npu::generator::ControlSize control_size(uint32_t seed) {
  static const Shape kShapes[] = {{1, 6}, {2, 3, 4}, {7}, {2, 1, 5, 2}, {1, 60}};
  return {kShapes[seed % std::size(kShapes)], static_cast<int>(6 + seed % 40), 1};
}

Value random_input(const Tensor& tensor, std::mt19937& random) {
  const auto format = float_format(tensor.type);
  if (!format) return npu::compiler::testing::random_value(tensor.type, tensor.shape, random);
  std::uniform_real_distribution<double> any(-8, 8);
  std::vector<double> numbers(static_cast<size_t>(element_count(tensor.shape).value()));
  for (double& number : numbers) number = random() % 8 == 0 ? std::nearbyint(any(random)) : any(random);
  return {tensor.type, tensor.shape, encode(tensor.type, static_cast<int64_t>(numbers.size()), numbers)};
}

void write_text(const fs::path& file, const std::string& text) {
  write_file(file, {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

json describe(const Block& block, const std::vector<Tolerance>& tolerances, int steps, bool may_crash) {
  json document = {{"steps", steps},
                   {"may_crash", may_crash},
                   {"inputs", json::array()},
                   {"outputs", json::array()},
                   {"variables", json::array()}};
  for (const TensorId id : block.inputs) document["inputs"].push_back(block.tensors[id].name);
  for (size_t i = 0; i < block.outputs.size(); ++i) {
    const Tensor& tensor = block.tensors[block.outputs[i]];
    json output = {{"name", tensor.name}, {"type", name(tensor.type)}};
    if (i < tolerances.size() && !tolerances[i].bound.empty()) {
      output["bound"] = tolerances[i].bound;
      output["factor"] = tolerances[i].factor;
    }
    document["outputs"].push_back(output);
  }
  for (const Tensor& tensor : block.tensors) {
    if (tensor.variable) document["variables"].push_back(tensor.name);
  }
  return document;
}

void write_case(const fs::path& folder, const Graph& graph, const std::vector<Tolerance>& tolerances, int steps,
                std::mt19937& random, bool may_crash = false) {
  fs::create_directories(folder);
  write_tosa(folder / "network.tosa", graph);
  for (const TensorId id : graph.main().inputs) {
    const Tensor& tensor = graph.main().tensors[id];
    std::vector<Value> values;
    for (int step = 0; step < std::max(steps, 1); ++step) values.push_back(random_input(tensor, random));
    write_npy(folder / (tensor.name + ".npy"), to_npy(steps > 0 ? stack(values) : values[0]));
  }
  write_text(folder / "case.json", describe(graph.main(), tolerances, steps, may_crash).dump(1));
}

// The inputs of these shapes. Returns the shapes by input.
json write_inputs(const fs::path& folder, const Block& block, const GivenShapes& shapes, std::mt19937& random) {
  fs::create_directories(folder);
  json written = json::object();
  for (const TensorId id : block.inputs) {
    Tensor tensor = block.tensors[id];
    tensor.shape = shapes.at(tensor.name);
    write_npy(folder / (tensor.name + ".npy"), to_npy(random_input(tensor, random)));
    written[tensor.name] = tensor.shape;
  }
  return written;
}

// The constants of RESHAPE as they are in the resolved graph: infer_shapes takes no -1 there.
void fill_reshapes(Graph& graph, const Graph& sized) {
  for (size_t r = 0; r < graph.regions.size(); ++r) {
    Block& block = graph.regions[r].blocks.front();
    for (const Operator& op : block.operators) {
      if (op.op != Op::kReshape || !block.tensors[op.inputs[1]].has_data) continue;
      const Shape& whole = sized.regions[r].blocks.front().tensors[op.outputs[0]].shape;
      auto bytes = std::make_shared<std::vector<uint8_t>>(whole.size() * sizeof(int64_t));
      std::memcpy(bytes->data(), whole.data(), bytes->size());
      graph.storage.push_back(std::move(bytes));
      block.tensors[op.inputs[1]].data = *graph.storage.back();
    }
  }
}

// Whether a constant of RESHAPE has -1.
bool leaves_open(const Tensor& sizes) {
  for (size_t at = 0; at + sizeof(int64_t) <= sizes.data.size(); at += sizeof(int64_t)) {
    int64_t size = 0;
    std::memcpy(&size, sizes.data.data() + at, sizeof(size));
    if (size < 0) return true;
  }
  return false;
}

// nullopt where the sizes of a RESHAPE that leaves several do not follow.
std::optional<Graph> resolved(const npu::test::OpenGraph& open) {
  try {
    return resolve(open.graph, open.base);
  } catch (const npu::Error& error) {
    if (error.code() != npu::contract::ErrorCode::kFeatureUnsupported) throw;
    return std::nullopt;
  }
}

// One of the open sizes becomes 1, whatever others it has to be equal to.
GivenShapes with_one(const Block& block, GivenShapes shapes, std::mt19937& random) {
  std::vector<int64_t*> open;
  for (const TensorId id : block.inputs) {
    const Tensor& tensor = block.tensors[id];
    Shape& shape = shapes.at(tensor.name);
    for (size_t d = 0; d < shape.size(); ++d) {
      if (tensor.shape[d] < 0) open.push_back(&shape[d]);
    }
  }
  *open.at(random() % open.size()) = 1;
  return shapes;
}

// Where infer_shapes is wrong whatever the sizes are (CONV3D, and RESHAPE with -1), or the official model takes no such
// operator (VARIABLE, and COND_IF without results).
bool beyond_official(const Graph& graph) {
  for (const Region& region : graph.regions) {
    const Block& block = region.blocks.front();
    for (const Operator& op : block.operators) {
      if (op.op == Op::kConv3d || op.op == Op::kVariable || (op.op == Op::kCondIf && op.outputs.empty())) return true;
      if (op.op == Op::kReshape && leaves_open(block.tensors[op.inputs[1]])) return true;
    }
  }
  return false;
}

std::vector<GivenShapes> some_sizes(const npu::test::OpenGraph& open, const Block& block, uint32_t seed) {
  std::mt19937 random(seed);
  npu::cosim::Random sizes(seed);
  std::vector<GivenShapes> all = {open.base, with_one(block, open.base, random)};
  for (int i = 0; i < kSizes - 2; ++i) {
    if (const auto shapes = npu::test::random_shapes(open, sizes)) all.push_back(*shapes);
  }
  return all;
}

// nullopt: the graph of this seed leaves nothing open, or its sizes do not follow.
std::optional<Graph> official_form(const npu::test::OpenGraph& open, uint32_t seed) {
  const std::optional<Graph> sized = resolved(open);
  if (!sized) return std::nullopt;
  Graph graph = open.graph;
  if (seed % kOneOfReshapes != 0) fill_reshapes(graph, *sized);
  name_variables_alike(graph);
  make_outputs_unique(graph.main());
  read_unused_variables(graph.main());
  return graph;
}

// Whether it is one of those to count.
bool write_open_case(uint32_t seed, const fs::path& folder) {
  using Kind = npu::test::Graphs::Kind;
  const Kind kind = seed % kOneOfImages == 0 ? Kind::kImages : Kind::kAny;
  const std::optional<npu::test::OpenGraph> open = npu::test::random_open_graph(seed, {.kind = kind});
  if (!open) return false;
  const std::optional<Graph> graph = official_form(*open, seed);
  if (!graph) return false;
  const bool more = beyond_official(*graph);
  const fs::path here = folder / ((more ? "more_" : "open_") + std::to_string(seed));
  json document = describe(graph->main(), {}, 0, graph->regions.size() > 1);
  std::mt19937 random(seed);
  for (const GivenShapes& shapes : some_sizes(*open, graph->main(), seed)) {
    const fs::path inputs = here / std::to_string(document["sizes"].size());
    document["sizes"].push_back(write_inputs(inputs, graph->main(), shapes, random));
  }
  write_tosa(here / "network.tosa", *graph);
  write_text(here / "case.json", document.dump(1));
  return !more;
}

void write_open(uint32_t first, uint32_t count, const fs::path& folder) {
  for (uint32_t seed = first; count > 0; ++seed) count -= write_open_case(seed, folder) ? 1 : 0;
}

void write_random(const std::string& kind, uint32_t first, uint32_t count, const fs::path& folder) {
  for (uint32_t seed = first; seed < first + count; ++seed) {
    std::mt19937 random(seed);
    const fs::path here = folder / (kind + "_" + std::to_string(seed));
    if (kind == "float") {
      const npu::test::FloatGraph made = npu::test::float_graph(seed);
      write_case(here, made.graph, made.tolerances, 0, random);
    } else if (kind == "control") {
      Graph graph = npu::generator::random_control(seed, control_size(seed));
      name_variables_alike(graph);
      write_case(here, graph, {}, kSteps, random, true);
    } else {
      Graph graph = npu::compiler::testing::random_graph(seed);
      make_outputs_unique(graph.main());
      read_unused_variables(graph.main());
      write_case(here, graph, {}, 0, random);
    }
  }
}

void write_table(const fs::path& folder) {
  std::mt19937 random(1);
  for (const Named& entry : kScripts) {
    write_case(folder / entry.name, npu::reference::test::graph_of(entry.script), {}, kSteps, random);
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::string kind = argc > 1 ? argv[1] : "";
    if (argc == 5 && kind == "open") {
      write_open(static_cast<uint32_t>(std::stoul(argv[2])), static_cast<uint32_t>(std::stoul(argv[3])), argv[4]);
    } else if (argc == 5 && (kind == "integer" || kind == "float" || kind == "control")) {
      write_random(kind, static_cast<uint32_t>(std::stoul(argv[2])), static_cast<uint32_t>(std::stoul(argv[3])),
                   argv[4]);
    } else if (argc == 3 && kind == "state") {
      write_table(argv[2]);
    } else {
      std::fprintf(stderr,
                   "usage: make_cases integer|float|control|open FIRST COUNT FOLDER | make_cases state FOLDER\n");
      return 64;
    }
  } catch (const npu::Error& error) {
    std::fprintf(stderr, "make_cases: %s\n", error.what());
    return 1;
  }
  return 0;
}
