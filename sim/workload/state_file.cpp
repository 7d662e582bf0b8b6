// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/state_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <vector>

#include "driver/graph/file.h"
#include "driver/graph/text.h"
#include "hw/contract/error.h"

namespace npu::workload {
namespace {

namespace fs = std::filesystem;
using contract::ErrorCode;
using graph::in_quotes;
using runtime::Snapshot;
using runtime::SnapshotVariable;

// More than any variables that the reference takes.
constexpr uintmax_t kMaxSnapshot = uintmax_t{5} << 30;

void add_name(std::string& list, const std::string& name) { list += (list.empty() ? "" : ", ") + in_quotes(name); }

// A file may claim any number.
uint64_t saturating_sum(uint64_t a, uint64_t b) { return a + std::min(b, UINT64_MAX - a); }

// The operator that writes the variable last, named as a layer is; empty: none of the main block does.
std::string writer_of(const Network& network, const std::string& identity) {
  const graph::Block& block = network.graph.main();
  for (size_t i = block.operators.size(); i-- > 0;) {
    const graph::Operator& op = block.operators[i];
    if (op.op != graph::Op::kVariableWrite || op.outputs.empty()) continue;
    if (graph::variable_identity(block.tensors[op.outputs[0]]) != identity) continue;
    std::string name(graph::name(op.op));
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    return fmt::format("{}_{}", name, i);
  }
  return "";
}

// As the network's file declares them.
Declarations open_declarations_of(const Network& network) {
  return declarations_of(network.open ? *network.open : network.graph);
}

// With -1 for the sizes that the file leaves open.
graph::Shape open_shape(const graph::Tensor& tensor) {
  graph::Shape shape = tensor.shape;
  std::replace_if(
      shape.begin(), shape.end(), [&](int64_t size) { return graph::is_unknown(tensor, size); }, -1);
  return shape;
}

// Whether all sizes are the same that neither leaves open.
bool are_alike(const graph::Shape& a, const graph::Shape& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](int64_t one, int64_t other) { return one == other || one < 0 || other < 0; });
}

}  // namespace

Snapshot read_snapshot(const std::string& file) {
  const std::vector<uint8_t> bytes = graph::read_file(file, kMaxSnapshot);
  try {
    return runtime::parse_snapshot(bytes);
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{}: {}", in_quotes(file), error.what()));
  }
}

void write_snapshot(tool::StagedFiles& files, const fs::path& file, const Snapshot& snapshot) {
  files.write(file, runtime::serialise(snapshot));
}

void check_fit(const Snapshot& snapshot, const std::string& file, const Network& network) {
  const Declarations declarations = open_declarations_of(network);
  std::string surplus, missing;
  std::map<std::string_view, const SnapshotVariable*> saved;
  const std::string net = in_quotes(network.path.string());
  for (const SnapshotVariable& variable : snapshot.variables) {
    saved[variable.identity] = &variable;
    const auto found = declarations.find(variable.identity);
    if (found == declarations.end()) {
      add_name(surplus, variable.identity);
      continue;
    }
    const graph::Tensor& tensor = *found->second;
    if (tensor.type == variable.type && are_alike(open_shape(tensor), variable.shape)) continue;
    throw Error(
        ErrorCode::kBadSnapshot,
        fmt::format("variable {} is {} in {}, but {} in {}: the snapshot is of another version of the network; start "
                    "without it and save the state anew",
                    in_quotes(variable.identity), graph::describe_type(variable.type, variable.shape), in_quotes(file),
                    graph::describe_type(tensor.type, open_shape(tensor)), net));
  }
  for (const auto& [identity, tensor] : declarations) {
    if (!saved.contains(identity)) add_name(missing, identity);
  }
  if (surplus.empty() && missing.empty()) return;
  std::string text;
  if (!surplus.empty()) text = fmt::format("{} of {} is no variable of {}", surplus, in_quotes(file), net);
  if (!missing.empty()) {
    text += fmt::format("{}{} of {} is not in {}", text.empty() ? "" : ", and ", missing, net, in_quotes(file));
  }
  throw Error(ErrorCode::kBadSnapshot, text + "; give a snapshot that the same network left");
}

std::string open_sizes_of(const Snapshot& snapshot, const Network& network) {
  const Declarations declarations = open_declarations_of(network);
  std::string list;
  for (const SnapshotVariable& variable : snapshot.variables) {
    if (!variable.is_written || graph::unknown_size(*declarations.at(variable.identity)) == nullptr) continue;
    list += fmt::format("{}{} as {}", list.empty() ? "" : ", ", in_quotes(variable.identity),
                        fmt::join(variable.shape, "x"));
  }
  return list;
}

void take_size(const graph::Shape& open, const graph::Shape& shape, const std::string& file,
               SnapshotVariable& variable) {
  if (!are_alike(open, variable.shape)) return;
  if (!variable.is_written) {
    variable.shape = shape;
    variable.largest.clear();
    return;
  }
  if (variable.shape == shape) return;
  throw Error(ErrorCode::kVariableMismatch,
              fmt::format("variable {} is {} in {}, but {} by the sizes of the data: give data of the size that it "
                          "has, or clear it in the file (npu state clear)",
                          in_quotes(variable.identity), graph::describe_type(variable.type, variable.shape),
                          in_quotes(file), graph::describe_type(variable.type, shape)));
}

Snapshot start_of(const std::string& resume, const Network& network) {
  if (resume.empty()) return {};
  Snapshot snapshot = read_snapshot(resume);
  check_fit(snapshot, resume, network);
  const Declarations open = open_declarations_of(network), now = declarations_of(network.graph);
  for (SnapshotVariable& variable : snapshot.variables) {
    const auto declared = now.find(variable.identity);
    if (declared == now.end()) continue;
    take_size(open_shape(*open.at(variable.identity)), declared->second->shape, resume, variable);
  }
  return snapshot;
}

reference::Context to_reference(const Snapshot& snapshot) {
  reference::Context context;
  for (const SnapshotVariable& variable : snapshot.variables) {
    if (!variable.is_written) continue;
    context.variables[variable.identity] = {{variable.type, variable.shape, variable.bytes}, true};
  }
  return context;
}

Snapshot from_reference(const reference::Context& context, const Network& network, const Snapshot& before,
                        uint64_t invocations) {
  const Declarations declarations = declarations_of(network.graph);
  Snapshot snapshot;
  snapshot.label = network.path.filename().string();
  for (const auto& [identity, state] : context.variables) {  // by identity
    SnapshotVariable variable;
    variable.identity = identity;
    variable.type = state.value.type;
    variable.shape = state.value.shape;
    variable.is_written = state.is_written;
    variable.invocations = invocations;
    if (state.is_written) {
      variable.bytes = state.value.bytes;
      variable.last_writer = writer_of(network, identity);
    }
    const auto declared = declarations.find(identity);
    if (declared != declarations.end()) variable.tensor_name = declared->second->name;
    const auto known = std::find_if(before.variables.begin(), before.variables.end(),
                                    [&](const SnapshotVariable& other) { return other.identity == identity; });
    if (known != before.variables.end() && known->is_written) {
      variable.invocations = saturating_sum(invocations, known->invocations);
      if (variable.last_writer.empty()) variable.last_writer = known->last_writer;
    }
    snapshot.variables.push_back(std::move(variable));
  }
  // What no execution has reached the declaration of is there, too: the network that resumes has it.
  for (const auto& [identity, tensor] : declarations) {
    if (context.variables.contains(identity)) continue;
    SnapshotVariable variable;
    variable.identity = identity;
    variable.tensor_name = tensor->name;
    variable.type = tensor->type;
    variable.shape = tensor->shape;
    snapshot.variables.push_back(std::move(variable));
  }
  std::sort(snapshot.variables.begin(), snapshot.variables.end(),
            [](const auto& a, const auto& b) { return a.identity < b.identity; });
  return snapshot;
}

}  // namespace npu::workload
