// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/stream_networks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "driver/compiler/compile.h"
#include "driver/compiler/dram_needs.h"
#include "driver/compiler/room.h"
#include "driver/graph/text.h"
#include "hw/contract/error.h"
#include "sim/workload/input_argument.h"

namespace npu::cli {

using contract::ErrorCode;
using graph::in_quotes;

namespace {

// Who declared a variable of a context first.
struct FirstDeclaration {
  const graph::Tensor* tensor;
  const Stream* stream;
};

// Sizes that the network's file leaves open are those of the frames.
workload::Network load_network(const StreamArgument& argument) {
  return workload::load_network(argument.network, [&](const std::vector<workload::GraphPort>& inputs) {
    try {
      graph::GivenShapes shapes = workload::shapes_of(inputs, argument.inputs, true);
      for (const workload::GraphPort& input : inputs) {
        if (shapes.count(input.name) == 0) workload::throw_missing(input);
      }
      return shapes;
    } catch (const Error& error) {
      throw Error(error.code(), fmt::format("{}: {}", in_quotes(argument.network), error.what()));
    }
  });
}

workload::InputData load_frames(const workload::Network& network, const StreamArgument& argument) {
  const bool sequence = !network.inputs.empty();
  if (!sequence && !argument.invocations) {
    throw Error(ErrorCode::kBadOption,
                fmt::format("{} has no inputs whose frames say how often to run it; add --invocations N behind it",
                            in_quotes(network.path.string())));
  }
  try {
    return workload::InputData(network.inputs, argument.inputs, sequence, {.count = argument.invocations});
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{}: {}", in_quotes(network.path.string()), error.what()));
  }
}

// Outputs and reports tell networks apart by their names: the second of a name is NAME-2.
void tell_apart(std::vector<Stream>& streams) {
  std::set<std::string> names, seen;
  for (const Stream& stream : streams) names.insert(stream.name);
  for (Stream& stream : streams) {
    if (seen.insert(stream.name).second) continue;
    const std::string name = stream.name;
    for (int number = 2; !names.insert(stream.name).second; ++number) stream.name = fmt::format("{}-{}", name, number);
  }
}

// Calls `visit` for the blocks of branches and loop bodies, too.
template <typename Visit>
void for_each_block(const graph::Graph& graph, Visit&& visit) {
  for (const graph::Region& region : graph.regions) std::for_each(region.blocks.begin(), region.blocks.end(), visit);
}

std::vector<const graph::Tensor*> variables_of(const graph::Graph& graph) {
  std::vector<const graph::Tensor*> found;
  for_each_block(graph, [&](const graph::Block& block) {
    for (const graph::Tensor& tensor : block.tensors) {
      if (tensor.variable) found.push_back(&tensor);
    }
  });
  return found;
}

// Identities of the variables that networks write, by context.
std::vector<std::set<std::string>> written_variables(const std::vector<Stream>& streams, size_t contexts) {
  std::vector<std::set<std::string>> written(contexts);
  for (const Stream& stream : streams) {
    for_each_block(stream.network.graph, [&](const graph::Block& block) {
      for (const graph::Operator& op : block.operators) {
        if (op.op != graph::Op::kVariableWrite) continue;
        written[stream.context].insert(graph::variable_identity(block.tensors[op.outputs[0]]));
      }
    });
  }
  return written;
}

std::string declaration(const FirstDeclaration& one) {
  return fmt::format("{} in {}", graph::describe_type(one.tensor->type, one.tensor->shape),
                     in_quotes(one.stream->network.path.string()));
}

// Throws for variables that the network declares otherwise than one before it in the context.
void check_declarations(const Stream& stream, std::string_view context,
                        std::map<std::string, FirstDeclaration>& declared) {
  for (const graph::Tensor* tensor : variables_of(stream.network.graph)) {
    const std::string identity = graph::variable_identity(*tensor);
    const FirstDeclaration here{tensor, &stream};
    const FirstDeclaration first = declared.emplace(identity, here).first->second;
    if (first.tensor->type == tensor->type && first.tensor->shape == tensor->shape) continue;
    throw Error(ErrorCode::kVariableMismatch,
                fmt::format("variable {} of context {} is {}, but {}; declare it alike, or give the networks "
                            "contexts of their own",
                            in_quotes(identity), in_quotes(context), declaration(first), declaration(here)));
  }
}

compiler::MachineNeeds compile_streams(const StreamOptions& options, const contract::Capabilities& caps,
                                       bool resident_constants, std::vector<Stream>& streams) {
  compiler::MachineNeeds needs;
  const uint64_t capacity = compiler::persistent_capacity(caps);
  const std::vector<std::set<std::string>> written = written_variables(streams, options.contexts.size());
  for (Stream& stream : streams) {
    compiler::Options compile;
    compile.schedule.persistent_bytes = capacity - std::min(capacity, needs.persistent_bytes);
    compile.schedule.state_in_dram = options.state_in_dram;
    compile.schedule.two_places = options.double_buffer;
    compile.schedule.resident_constants = resident_constants;
    compile.schedule.written_by_others = written[stream.context];
    if (stream.context < needs.shared.size()) {
      for (const auto& [identity, variable] : needs.shared[stream.context]) {
        compile.schedule.placed_in_dram.emplace(identity, variable.in_dram);
      }
    }
    try {
      stream.program = compiler::compile_unchecked(stream.network.graph, caps, compile);
    } catch (const compiler::NoRoom&) {
      throw;  // for the search of a machine that is large enough
    } catch (const Error& error) {
      throw Error(error.code(), fmt::format("{}: {}", in_quotes(stream.network.path.string()), error.what()));
    }
    needs.add(stream.program, caps, options.double_buffer, true, stream.context);
  }
  return needs;
}

// Whether the constants of all streams stay where they are: none lies in what another network uses of the scratchpad.
bool all_stay(const std::vector<Stream>& streams, const contract::Capabilities& caps) {
  const auto rounded = [](uint64_t bytes) {
    return (bytes + contract::kResidentUnit - 1) / contract::kResidentUnit * contract::kResidentUnit;
  };
  uint64_t most = 0, constants = 0;
  for (const Stream& stream : streams) {
    most = std::max(most, rounded(stream.program.spm_peak_bytes));
    constants += rounded(stream.program.resident_bytes);
  }
  return most + constants <= caps.spm_bytes;
}

compiler::MachineNeeds compile_all(const StreamOptions& options, const contract::Capabilities& caps,
                                   std::vector<Stream>& streams) {
  const compiler::MachineNeeds needs = compile_streams(options, caps, options.resident_constants, streams);
  if (!options.resident_constants || all_stay(streams, caps)) return needs;
  return compile_streams(options, caps, false, streams);
}

}  // namespace

std::vector<Stream> load_streams(const StreamOptions& options, const contract::Capabilities& caps) {
  std::vector<Stream> streams;
  for (const StreamArgument& argument : options.streams) {
    workload::Network network = load_network(argument);
    workload::InputData frames = load_frames(network, argument);
    std::string name = network.path.stem().string();
    streams.push_back(
        {std::move(name), std::move(network), std::move(frames), argument.context, argument.per_round, {}});
  }
  tell_apart(streams);
  std::vector<std::map<std::string, FirstDeclaration>> declared(options.contexts.size());
  for (const Stream& stream : streams) {
    check_declarations(stream, options.contexts[stream.context].name, declared[stream.context]);
  }
  compiler::require_room(
      caps, true, [&](const contract::Capabilities& machine) { return compile_all(options, machine, streams); },
      "them");
  return streams;
}

}  // namespace npu::cli
