// SPDX-License-Identifier: Apache-2.0
#include "driver/specialise/bounded_programs.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "driver/compiler/dram_needs.h"
#include "driver/graph/text.h"
#include "driver/runtime/sizes.h"
#include "hw/contract/error.h"

namespace npu::specialise {
namespace {

using compiler::Program;
using compiler::SizeTable;
using contract::ErrorCode;

// "x.0 is 1 to 64"
std::string in_words(const std::vector<compiler::SizeBounds>& bounds) {
  std::string text;
  for (const compiler::SizeBounds& one : bounds) {
    text += fmt::format("{}{} is {} to {}", text.empty() ? "" : ", ", graph::printable(one.name), one.least, one.most);
  }
  return text;
}

// What of a shape does not depend on sizes.
void check_shape(const compiler::Port& port, const graph::Shape& shape) {
  graph::Shape wanted = port.shape, got = shape;
  got.resize(wanted.size());
  for (size_t d = 0; d < port.sizes.size(); ++d) {
    if (port.sizes[d] >= 0) wanted[d] = got[d] = -1;
  }
  if (shape.size() == wanted.size() && got == wanted) return;
  throw Error(ErrorCode::kBadInput, fmt::format("input {} is {}, not {}", graph::in_quotes(port.name),
                                                graph::describe_type(port.type, wanted), graph::to_string(shape)));
}

std::vector<int64_t> symbols_of(const Program& program, const graph::GivenShapes& sizes) {
  std::vector<int64_t> symbols(program.sizes.symbols.size());
  for (const compiler::Port& port : program.inputs) {
    const auto given = sizes.find(port.name);
    if (!program.sizes.empty() && given != sizes.end()) check_shape(port, given->second);
    for (size_t d = 0; d < port.sizes.size(); ++d) {
      if (port.sizes[d] < 0 || static_cast<size_t>(port.sizes[d]) >= symbols.size()) continue;
      if (given == sizes.end()) {
        throw Error(ErrorCode::kBadInput,
                    fmt::format("input {} has no size for dimension {}", graph::in_quotes(port.name), d));
      }
      symbols[static_cast<size_t>(port.sizes[d])] = given->second[d];
    }
  }
  return symbols;
}

// The number of the program for these sizes, of `count` that `program` gives.
template <typename ProgramAt>
size_t choose(size_t count, const ProgramAt& program, const std::vector<compiler::SizeBounds>& bounds,
              const graph::GivenShapes& sizes) {
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    const std::vector<int64_t> symbols = symbols_of(program(i), sizes);
    if (compiler::is_within(symbols, program(i).sizes)) return i;
    if (!text.empty()) continue;
    for (size_t k = 0; k < symbols.size(); ++k) {
      text +=
          fmt::format("{}{} is {}", k == 0 ? "" : ", ", graph::printable(program(i).sizes.symbols[k].name), symbols[k]);
    }
  }
  throw Error(
      ErrorCode::kSizeOutOfBounds,
      fmt::format(
          "{}, but the programs are for sizes of which {}; compile for wider bounds, if the network takes such sizes",
          text, in_words(bounds)));
}

}  // namespace

std::vector<compiler::SizeBounds> bounds_of(const std::vector<Program>& programs) {
  NPU_CHECK(!programs.empty());
  std::vector<compiler::SizeBounds> bounds;
  for (const SizeTable::Symbol& symbol : programs.front().sizes.symbols) {
    bounds.push_back({symbol.name, symbol.least, symbol.most});
  }
  for (const Program& program : programs) {
    for (size_t i = 0; i < bounds.size(); ++i) {
      bounds[i].least = std::min<int64_t>(bounds[i].least, program.sizes.symbols[i].least);
      bounds[i].most = std::max<int64_t>(bounds[i].most, program.sizes.symbols[i].most);
    }
  }
  return bounds;
}

Program fixed_program(const std::vector<Program>& programs, const graph::GivenShapes& sizes) {
  const auto at = [&](size_t i) -> const Program& { return programs[i]; };
  const Program& program = programs[choose(programs.size(), at, bounds_of(programs), sizes)];
  std::vector<graph::Shape> shapes;
  for (const compiler::Port& port : program.inputs) {
    const auto given = sizes.find(port.name);
    shapes.push_back(given == sizes.end() ? port.shape : given->second);
  }
  const std::vector<int64_t> symbols = runtime::sizes_of(program, shapes);
  const compiler::SizeValues values = compiler::evaluate(program.sizes, symbols);
  // A file may name values that these sizes leave undefined or without room, and at_sizes() believes it.
  for (const compiler::Port& port : program.outputs) static_cast<void>(runtime::shape_of(port, values));
  for (const compiler::Variable& variable : program.variables) static_cast<void>(runtime::shape_of(variable, values));
  return compiler::at_sizes(program, symbols);
}

BoundedPrograms::BoundedPrograms(runtime::Context context, std::vector<Program> programs, bool firmware)
    : context_(std::move(context)),
      programs_(std::move(programs)),
      loaded_(programs_.size()),
      bounds_(bounds_of(programs_)),
      firmware_(firmware) {
  counts_.compiled = programs_.size();
}

std::vector<int64_t> BoundedPrograms::symbols_of(const Program& program, const graph::GivenShapes& sizes) {
  return specialise::symbols_of(program, sizes);
}

size_t BoundedPrograms::choose(const graph::GivenShapes& sizes) const {
  const auto at = [&](size_t i) -> const Program& { return program(i); };
  return specialise::choose(programs_.size(), at, bounds_, sizes);
}

std::shared_ptr<const SizedProgram> BoundedPrograms::get(const graph::GivenShapes& sizes) {
  return load(choose(sizes));
}

std::shared_ptr<const SizedProgram> BoundedPrograms::largest() {
  std::vector<std::vector<int64_t>> most(programs_.size());
  for (size_t i = 0; i < most.size(); ++i) {
    for (const SizeTable::Symbol& symbol : program(i).sizes.symbols) most[i].push_back(symbol.most);
  }
  return load(static_cast<size_t>(std::max_element(most.begin(), most.end()) - most.begin()));
}

std::shared_ptr<const SizedProgram> BoundedPrograms::load(size_t number) {
  std::shared_ptr<const SizedProgram>& program = loaded_[number];
  if (program) {
    ++counts_.hits;
    return program;
  }
  const uint64_t bytes = compiler::needs_of(programs_[number], firmware_).total();
  // A copy, for one that cannot be loaded now may be later.
  program = std::make_shared<const SizedProgram>(SizedProgram{context_.load(programs_[number]), bytes});
  programs_[number] = {};
  ++counts_.misses;
  ++counts_.programs;
  counts_.bytes += bytes;
  counts_.most_bytes = counts_.bytes;
  return program;
}

std::vector<std::shared_ptr<const SizedProgram>> BoundedPrograms::loaded() const {
  std::vector<std::shared_ptr<const SizedProgram>> programs;
  for (const std::shared_ptr<const SizedProgram>& program : loaded_) {
    if (program) programs.push_back(program);
  }
  return programs;
}

}  // namespace npu::specialise
