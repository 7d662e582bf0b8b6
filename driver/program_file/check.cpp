// SPDX-License-Identifier: Apache-2.0
#include "driver/program_file/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "driver/compiler/size_check.h"
#include "driver/graph/text.h"
#include "driver/graph/validate.h"
#include "driver/graph/value.h"
#include "driver/program_file/check_commands.h"
#include "hw/contract/error.h"

namespace npu::program_file {
namespace {

using contract::ErrorCode;
using graph::in_quotes;

// A program of more multiply-accumulates, or of more bytes of a variable, would run for years; sums of them stay exact.
constexpr uint64_t kMostWork = uint64_t{1} << 53;
// Kernels have at most depth, height and width.
constexpr size_t kMostKernelRank = 3;

bool is_type(graph::DType type) { return graph::dtype_from_name(graph::name(type)) == type; }

void check_version(const ProgramFile& file) {
  if (file.contract_major == contract::kContractMajor && file.contract_minor == contract::kContractMinor) return;
  throw Error(
      ErrorCode::kContractMismatch,
      fmt::format("the program was compiled for version {}.{} of the contract, this driver speaks {}.{}; "
                  "compile the network again with npu compile.",
                  file.contract_major, file.contract_minor, contract::kContractMajor, contract::kContractMinor));
}

void check_capabilities(const ProgramFile& file) {
  for (const contract::CapabilityInfo& info : contract::kCapabilities) {
    const uint32_t value = file.capabilities.*info.member;
    const bool odd = info.power_of_two && (value & (value - 1)) != 0;
    if (value >= info.min && value <= info.max && !odd) continue;
    throw_damaged_file(fmt::format("says that {} of its machine is {}, which cannot be", info.name, value));
  }
  const uint32_t hash = contract::caps_hash(file.capabilities);
  if (file.program.caps_hash != hash) {
    throw_damaged_file(fmt::format("is for capabilities {:#010x}, but those of its machine are {:#010x}",
                                   file.program.caps_hash, hash));
  }
}

// Elements of a port or variable; what it is called in messages stands in front.
int64_t elements_of(std::string_view what, const std::string& name, graph::DType type, const graph::Shape& shape) {
  if (shape.size() > graph::kMostRank) {  // not printed: a damaged file may say any number of dimensions
    throw_damaged_file(
        fmt::format("says that {} {} has {} dimensions, which cannot be", what, in_quotes(name), shape.size()));
  }
  const std::optional<int64_t> elements = graph::element_count(shape);
  if (!is_type(type) || !elements || *elements == 0) {
    throw_damaged_file(fmt::format("says that {} {} is {}, which cannot be", what, in_quotes(name),
                                   graph::describe_type(type, shape)));
  }
  return *elements;
}

void check_ports(std::string_view what, const std::vector<compiler::Port>& ports) {
  std::set<std::string_view> names;
  for (const compiler::Port& port : ports) {
    static_cast<void>(elements_of(what, port.name, port.type, port.shape));
    if (!names.insert(port.name).second) {
      throw_damaged_file(fmt::format("has {} {} twice", what, in_quotes(port.name)));
    }
  }
}

void check_variable(const compiler::Variable& variable) {
  const std::string name = in_quotes(variable.identity);
  const int64_t elements = elements_of("variable", variable.identity, variable.type, variable.shape);
  const int64_t bytes = elements * graph::machine_width(variable.type);
  if (bytes != int64_t{variable.bytes} || variable.hash != compiler::variable_hash(variable.type, variable.shape)) {
    throw_damaged_file(fmt::format("says that variable {} has {} bytes and hash {:#010x}, but it is {}", name,
                                   variable.bytes, variable.hash, graph::describe_type(variable.type, variable.shape)));
  }
  if (!variable.initial.empty() && variable.initial.size() != variable.bytes) {
    throw_damaged_file(fmt::format("has {} bytes of the initial value of variable {} instead of {}",
                                   variable.initial.size(), name, variable.bytes));
  }
  if (const auto wrong = graph::find_out_of_range(variable.type, variable.initial)) {
    throw_damaged_file(fmt::format("says that element {} of variable {} is {}, but {} holds {}", wrong->index, name,
                                   wrong->element, graph::name(variable.type), wrong->range));
  }
  if (std::max(variable.read_bytes, variable.written_bytes) > kMostWork) {
    throw_damaged_file(fmt::format("says that commands move {} and {} bytes of variable {}, which cannot be",
                                   variable.read_bytes, variable.written_bytes, name));
  }
}

void check_variables(const std::vector<compiler::Variable>& variables) {
  std::set<std::string_view> identities;
  for (const compiler::Variable& variable : variables) {
    check_variable(variable);
    if (!identities.insert(variable.identity).second) {
      throw_damaged_file(fmt::format("has variable {} twice", in_quotes(variable.identity)));
    }
  }
}

void check_layer(const compiler::Layer& layer) {
  const auto fail = [&](std::string_view what) {
    throw_damaged_file(fmt::format("says of layer {} {} that cannot be", in_quotes(layer.name), what));
  };
  if (layer.engine && contract::name(*layer.engine) == "?") fail("an engine");
  if (layer.macs < 0) fail("a number of MACs");
  if (layer.tiles < 0 || layer.tiles > static_cast<int64_t>(kMostWork)) fail("a number of tiles");
  if (layer.estimated_cycles > kMostWork) fail("an estimate of cycles");
  for (const std::vector<int32_t>* sizes : {&layer.kernel, &layer.stride, &layer.dilation}) {
    const bool positive = std::all_of(sizes->begin(), sizes->end(), [](int32_t size) { return size > 0; });
    if (sizes->size() > kMostKernelRank || !positive) fail("a kernel");
  }
  for (const graph::Shape* shape : {&layer.input_shape, &layer.output_shape}) {
    if (shape->size() > graph::kMostRank || !graph::element_count(*shape)) fail("a shape");
  }
}

void check_layers(const std::vector<compiler::Layer>& layers) {
  uint64_t macs = 0;
  for (const compiler::Layer& layer : layers) {
    check_layer(layer);
    if (static_cast<uint64_t>(layer.macs) > kMostWork - macs) {
      throw_damaged_file("says that its layers have more MACs than can be");
    }
    macs += static_cast<uint64_t>(layer.macs);
  }
}

void check_sizes(const compiler::Program& program) {
  const std::string damage = compiler::find_size_damage(program);
  if (!damage.empty()) throw_damaged_file("is damaged: " + damage);
}

}  // namespace

void check_content(const ProgramFile& file) {
  check_version(file);
  check_capabilities(file);
  check_ports("input", file.program.inputs);
  check_ports("output", file.program.outputs);
  check_variables(file.program.variables);
  check_layers(file.program.layers);
  check_stream(file.program);
  check_sizes(file.program);
  if (file.program.estimated_cycles > kMostWork) throw_damaged_file("says an estimate of cycles that cannot be");
}

}  // namespace npu::program_file
