// SPDX-License-Identifier: Apache-2.0
#include "driver/program_file/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
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
  for (const compiler::Program& program : file.programs) {
    if (program.caps_hash == hash) continue;
    throw_damaged_file(
        fmt::format("is for capabilities {:#010x}, but those of its machine are {:#010x}", program.caps_hash, hash));
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

// Whether they are the same tensor's, but for the place in memory that each has.
bool same_tensor(const compiler::Port& one, const compiler::Port& other) {
  return one.type == other.type && one.shape == other.shape && one.sizes == other.sizes &&
         one.accepts_unsigned == other.accepts_unsigned && one.bytes == other.bytes;
}

// Names are there once; where they may repeat, for a graph may list an output several times, as ports of the same
// tensor.
void check_ports(std::string_view what, const std::vector<compiler::Port>& ports, bool may_repeat) {
  std::map<std::string_view, const compiler::Port*> first;
  for (const compiler::Port& port : ports) {
    static_cast<void>(elements_of(what, port.name, port.type, port.shape));
    const auto [same, is_new] = first.emplace(port.name, &port);
    if (is_new) continue;
    if (!may_repeat) throw_damaged_file(fmt::format("has {} {} twice", what, in_quotes(port.name)));
    if (!same_tensor(port, *same->second)) {
      throw_damaged_file(fmt::format("has {} {} twice, as different tensors", what, in_quotes(port.name)));
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

void check_program(const compiler::Program& program) {
  check_ports("input", program.inputs, false);
  check_ports("output", program.outputs, true);
  check_variables(program.variables);
  check_layers(program.layers);
  check_stream(program);
  check_sizes(program);
  if (program.estimated_cycles > kMostWork) throw_damaged_file("says an estimate of cycles that cannot be");
}

void check_count(const ProgramFile& file) {
  const size_t count = file.programs.size();
  if (count == 0 || count > compiler::kMostPrograms) {
    throw_damaged_file(fmt::format("holds {} programs, and a file has 1 to {}", count, compiler::kMostPrograms));
  }
}

bool is_fixed(const std::vector<int32_t>& sizes, size_t dimension) { return sizes.empty() || sizes[dimension] < 0; }

// Whether the same sizes are fixed, and to the same numbers.
template <typename T>
bool have_same_fixed_sizes(const T& one, const T& other) {
  if (one.shape.size() != other.shape.size()) return false;
  for (size_t d = 0; d < one.shape.size(); ++d) {
    const bool fixed = is_fixed(one.sizes, d);
    if (fixed != is_fixed(other.sizes, d) || (fixed && one.shape[d] != other.shape[d])) return false;
  }
  return true;
}

bool alike(const compiler::Port& one, const compiler::Port& other) {
  return one.name == other.name && one.type == other.type && one.accepts_unsigned == other.accepts_unsigned &&
         have_same_fixed_sizes(one, other);
}

// They are in one context, which has a place for each.
bool alike(const compiler::Variable& one, const compiler::Variable& other) {
  return one.identity == other.identity && one.type == other.type && one.shape == other.shape &&
         one.in_dram == other.in_dram && one.initial == other.initial && have_same_fixed_sizes(one, other);
}

bool alike(const compiler::SizeTable::Symbol& one, const compiler::SizeTable::Symbol& other) {
  return one.name == other.name;
}

template <typename T>
void check_alike(std::string_view what, size_t number, const std::vector<T>& first, const std::vector<T>& other) {
  if (std::equal(first.begin(), first.end(), other.begin(), other.end(),
                 [](const T& a, const T& b) { return alike(a, b); })) {
    return;
  }
  throw_damaged_file(fmt::format("is damaged: program {} of it has other {} than program 0", number, what));
}

void check_all_alike(const std::vector<compiler::Program>& programs) {
  const compiler::Program& first = programs.front();
  if (programs.size() > 1 && first.sizes.empty()) {
    throw_damaged_file("is damaged: it holds several programs, but their sizes are fixed");
  }
  for (size_t i = 1; i < programs.size(); ++i) {
    const compiler::Program& other = programs[i];
    check_alike("sizes", i, first.sizes.symbols, other.sizes.symbols);
    check_alike("inputs", i, first.inputs, other.inputs);
    check_alike("outputs", i, first.outputs, other.outputs);
    check_alike("variables", i, first.variables, other.variables);
  }
}

}  // namespace

void check_content(const ProgramFile& file) {
  check_version(file);
  check_capabilities(file);
  check_count(file);
  for (const compiler::Program& program : file.programs) check_program(program);
  check_all_alike(file.programs);
}

}  // namespace npu::program_file
