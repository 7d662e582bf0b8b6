// SPDX-License-Identifier: Apache-2.0
#include "driver/runtime/sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "driver/compiler/size_table.h"
#include "driver/graph/size_functions.h"
#include "driver/graph/text.h"
#include "driver/runtime/limits.h"
#include "driver/runtime/patches.h"
#include "hw/contract/error.h"

namespace npu::runtime {
namespace {

using compiler::Port;
using compiler::SizeTable;
using contract::ErrorCode;

// The value that a dimension is; nullopt: it is fixed.
std::optional<size_t> value_of(const Port& port, size_t dimension) {
  if (port.sizes.empty() || port.sizes[dimension] < 0) return std::nullopt;
  return static_cast<size_t>(port.sizes[dimension]);
}

// Of an open dimension.
SizeTable::Symbol bounds_of(const SizeTable& table, const Port& port, size_t dimension) {
  const size_t value = *value_of(port, dimension);
  if (value < table.symbols.size()) return table.symbols[value];
  // What the others make of it shows when the job starts.
  return {"", 1, static_cast<int32_t>(port.shape[dimension])};
}

bool fixed_ones_fit(const Port& port, const graph::Shape& shape) {
  if (shape.size() != port.shape.size()) return false;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (!value_of(port, i) && shape[i] != port.shape[i]) return false;
  }
  return true;
}

std::string in_words(std::optional<int64_t> value) { return value ? fmt::to_string(*value) : "undefined"; }

std::string describe_dimension(const Port& port, size_t dimension) {
  return fmt::format("dimension {} of input {}", dimension, graph::in_quotes(port.name));
}

// Where a size was said first.
struct Place {
  const Port* port = nullptr;
  size_t dimension = 0;
};

void note_input(const Port& port, const graph::Shape& shape, std::span<int64_t> sizes, std::span<Place> places) {
  for (size_t i = 0; i < shape.size(); ++i) {
    const std::optional<size_t> symbol = value_of(port, i);
    if (!symbol || *symbol >= sizes.size()) continue;
    Place& place = places[*symbol];
    if (place.port == nullptr) {
      place = {&port, i};
      sizes[*symbol] = shape[i];
    } else if (sizes[*symbol] != shape[i]) {
      throw Error(ErrorCode::kSizeMismatch,
                  fmt::format("{} is {}, but {} is {}; they are the same size.", describe_dimension(port, i), shape[i],
                              describe_dimension(*place.port, place.dimension), sizes[*symbol]));
    }
  }
}

// Dimensions that follow from those of others.
void check_derived(const Port& port, const graph::Shape& shape, const compiler::SizeValues& values) {
  for (size_t i = 0; i < shape.size(); ++i) {
    const std::optional<size_t> value = value_of(port, i);
    if (!value || values[*value] == shape[i]) continue;
    throw Error(ErrorCode::kSizeMismatch, fmt::format("{} is {}, but by the other sizes it must be {}.",
                                                      describe_dimension(port, i), shape[i], in_words(values[*value])));
  }
}

// The firmware, or the driver in its place, computes with these.
void check_defined(const SizeTable& table, const compiler::SizeValues& values) {
  const auto check = [&](size_t value) {
    if (values[value]) return;
    throw_damaged(fmt::format("value {} of its sizes is undefined for these, and something follows from it", value));
  };
  for (const uint16_t value : table.results) check(value);
  for (const SizeTable::Rule& rule : table.rules) {
    for (const uint16_t value : {rule.selector, rule.first, rule.second}) check(value);
  }
}

// Something whose sizes follow from those of a job.
struct Sized {
  std::string_view what;
  const std::string& name;
  graph::DType type;
  const graph::Shape& largest;
  const std::vector<int32_t>& sizes;
};

graph::Shape shape_within(const Sized& sized, const compiler::SizeValues& values) {
  if (sized.sizes.empty()) return sized.largest;
  graph::Shape shape = sized.largest;
  for (size_t i = 0; i < sized.sizes.size(); ++i) {
    if (sized.sizes[i] >= 0) shape[i] = values[static_cast<size_t>(sized.sizes[i])].value_or(0);
  }
  const bool positive = std::all_of(shape.begin(), shape.end(), [](int64_t size) { return size > 0; });
  const std::optional<int64_t> elements = positive ? graph::element_count(shape) : std::nullopt;
  if (elements && *elements <= *graph::element_count(sized.largest)) return shape;
  throw_damaged(fmt::format("{} {} would be {}, which has no room", sized.what, graph::in_quotes(sized.name),
                            graph::describe_type(sized.type, shape)));
}

}  // namespace

std::string describe_port(const SizeTable& table, const Port& port) {
  if (port.sizes.empty()) return graph::describe_type(port.type, port.shape);
  std::string text;
  for (size_t i = 0; i < port.shape.size(); ++i) {
    if (i > 0) text += ", ";
    if (value_of(port, i)) {
      const SizeTable::Symbol bounds = bounds_of(table, port, i);
      text += fmt::format("{}..{}", bounds.least, bounds.most);
    } else {
      text += fmt::to_string(port.shape[i]);
    }
  }
  return fmt::format("{}[{}]", graph::name(port.type), text);
}

void check_input(const SizeTable& table, const Port& port, const graph::Value& value) {
  check_input(table, port, value.type, value.shape, value.bytes.size());
}

void check_input(const SizeTable& table, const Port& port, graph::DType type, const graph::Shape& shape,
                 uint64_t bytes) {
  const auto fail = [&] {
    throw Error(ErrorCode::kBadInput,
                fmt::format("input {} takes {}, not {} in {} bytes.", graph::in_quotes(port.name),
                            describe_port(table, port), graph::describe_type(type, shape), bytes));
  };
  if (type != port.type || !fixed_ones_fit(port, shape)) fail();
  for (size_t i = 0; i < shape.size(); ++i) {
    if (!value_of(port, i)) continue;
    const SizeTable::Symbol bounds = bounds_of(table, port, i);
    if (shape[i] >= bounds.least && shape[i] <= bounds.most) continue;
    throw Error(ErrorCode::kSizeOutOfBounds,
                fmt::format("{} is {}, but the program was compiled for {} to {}.", describe_dimension(port, i),
                            shape[i], bounds.least, bounds.most));
  }
  const std::optional<int64_t> elements = graph::element_count(shape);
  if (!elements || static_cast<uint64_t>(*elements * graph::machine_width(port.type)) != bytes) fail();
}

std::vector<int64_t> sizes_of(const compiler::Program& program, std::span<const graph::Shape> inputs) {
  const SizeTable& table = program.sizes;
  std::vector<int64_t> sizes(table.symbols.size());
  std::vector<Place> places(sizes.size());
  for (size_t i = 0; i < inputs.size(); ++i) note_input(program.inputs[i], inputs[i], sizes, places);
  const compiler::SizeValues values = compiler::evaluate(table, sizes);
  for (size_t i = 0; i < inputs.size(); ++i) check_derived(program.inputs[i], inputs[i], values);
  for (const SizeTable::Condition& condition : table.conditions) {
    if (compiler::holds(condition, values)) continue;
    throw Error(ErrorCode::kSizeMismatch, describe_condition(condition, values) + '.');
  }
  check_defined(table, values);
  return sizes;
}

graph::Shape shape_of(const Port& output, const compiler::SizeValues& values) {
  return shape_within({"output", output.name, output.type, output.shape, output.sizes}, values);
}

graph::Shape shape_of(const compiler::Variable& variable, const compiler::SizeValues& values) {
  return shape_within({"variable", variable.identity, variable.type, variable.shape, variable.sizes}, values);
}

std::string describe_condition(const SizeTable::Condition& condition, const compiler::SizeValues& values) {
  const std::string text = graph::printable(condition.text, kLongestCondition);
  const std::string left = in_words(values[condition.left]);
  if (graph::is_unary(condition.relation)) return fmt::format("{}: it is {}", text, left);
  return fmt::format("{}: they are {} and {}", text, left, in_words(values[condition.right]));
}

void compare_results(const SizeTable& table, const compiler::SizeValues& values, std::span<const int64_t> results) {
  for (size_t i = 0; i < results.size(); ++i) {
    if (values[table.results[i]] == results[i]) continue;
    throw Error(ErrorCode::kFaultSizes,
                fmt::format("the device says that value {} of the job's sizes is {}, but it is {}.", table.results[i],
                            results[i], in_words(values[table.results[i]])));
  }
}

uint64_t firmware_cycles(const SizeTable& table) {
  if (table.empty()) return 0;
  const uint64_t values = table.symbols.size() + table.expressions.size();
  uint64_t cycles = kSizesCycles + 2 * (values * kValueCycles + table.conditions.size() * kConditionCycles);
  for (const SizeTable::Rule& rule : table.rules) {
    cycles += kRuleCycles + rule.pieces.size() * kPieceCycles + rule.words.size() * kWordCycles;
  }
  return cycles;
}

}  // namespace npu::runtime
