// SPDX-License-Identifier: Apache-2.0
#include "tests/system/state/rules.h"

#include <algorithm>
#include <array>

#include "driver/graph/builder.h"
#include "tests/system/state/networks.h"

namespace npu::test {
namespace {

using contract::ErrorCode;
using graph::DType;

// Some fit into one beat of the persistent SRAM's port, some take many; lengths are no multiples of anything.
Form form_of(uint32_t variable, bool other) {
  switch (variable) {
    case 0:
      return other ? Form{DType::kInt8, {8, 3}} : Form{DType::kInt8, {24}};
    case 1:
      return other ? Form{DType::kInt8, {40}} : Form{DType::kInt16, {40}};
    case 2:
      return other ? Form{DType::kInt32, {5, 1}} : Form{DType::kInt32, {5}};
    case 3:
      return other ? Form{DType::kInt8, {70}} : Form{DType::kBool, {70}};
    case 4:
      return other ? Form{DType::kInt8, {301}} : Form{DType::kInt8, {300}};
    default:
      return other ? Form{DType::kInt32, {1}} : Form{DType::kInt32, {2, 50}};
  }
}

size_t inputs_of(Use use) { return use == Use::kRead ? 0 : use == Use::kWriteTwice ? 2 : 1; }

bool reads_old(Use use) { return use == Use::kRead || use == Use::kReadThenWrite || use == Use::kMix; }

std::vector<uint8_t> mixed(const std::vector<uint8_t>& a, const std::vector<uint8_t>& b) {
  std::vector<uint8_t> result(a.size());
  std::transform(a.begin(), a.end(), b.begin(), result.begin(), std::bit_xor<>());
  return result;
}

void add_use(graph::GraphBuilder& b, const VariableUse& use, graph::TensorId variable) {
  std::vector<graph::TensorId> inputs;
  for (size_t i = 0; i < inputs_of(use.use); ++i) {
    inputs.push_back(b.input(use.identity + "_in" + std::to_string(i), use.form.type, use.form.shape));
  }
  const auto output = [&](graph::TensorId value) { b.output(value, use.identity + "_out"); };
  if (use.use == Use::kRead || use.use == Use::kReadThenWrite) output(b.read(variable));
  if (use.use == Use::kMix) {
    const graph::Op op = use.form.type == DType::kBool ? graph::Op::kLogicalXor : graph::Op::kBitwiseXor;
    inputs[0] = b.op(op, {b.read(variable), inputs[0]});
    output(inputs[0]);
  }
  for (const graph::TensorId input : inputs) b.write(variable, input);
  if (use.use == Use::kWriteThenRead || use.use == Use::kWriteTwice) output(b.read(variable));
}

}  // namespace

size_t VariableUse::bytes() const {
  return static_cast<size_t>(graph::element_count(form.shape).value() * graph::machine_width(form.type));
}

Recipe random_recipe(std::mt19937& random) {
  Recipe recipe;
  recipe.operators = random() % 3 == 0;
  constexpr std::array<uint64_t, 4> kBudgets = {0, 256, UINT64_MAX, UINT64_MAX};
  recipe.persistent_bytes = kBudgets[random() % kBudgets.size()];
  for (uint32_t variable = 0; variable < 6; ++variable) {
    if (random() % 5 > 1) continue;
    VariableUse use{
        "state_" + std::to_string(variable), form_of(variable, random() % 5 == 0), static_cast<Use>(random() % 6), {}};
    if (random() % 4 != 0) use.initial = random_value(use.form.type, use.form.shape, random).bytes;
    recipe.uses.push_back(std::move(use));
  }
  if (recipe.uses.empty()) return random_recipe(random);
  // A graph has an output.
  if (recipe.uses[0].use == Use::kWrite) recipe.uses[0].use = Use::kWriteThenRead;
  std::shuffle(recipe.uses.begin(), recipe.uses.end(), random);
  return recipe;
}

graph::Graph build(const Recipe& recipe) {
  graph::GraphBuilder b;
  std::vector<graph::TensorId> variables;
  for (const VariableUse& use : recipe.uses) {
    variables.push_back(b.variable(use.identity, use.form.type, use.form.shape));
    if (recipe.operators) b.declare(variables.back());
  }
  for (size_t i = 0; i < recipe.uses.size(); ++i) add_use(b, recipe.uses[i], variables[i]);
  graph::Graph graph = b.build();
  for (size_t i = 0; i < recipe.uses.size(); ++i) {
    if (recipe.uses[i].initial.empty()) continue;
    graph.storage.push_back(std::make_shared<const std::vector<uint8_t>>(recipe.uses[i].initial));
    graph::Tensor& tensor = graph.main().tensors[variables[i]];
    tensor.data = *graph.storage.back();
    tensor.has_data = true;
  }
  return graph;
}

bool Rules::fits(const Recipe& recipe) const {
  return std::all_of(recipe.uses.begin(), recipe.uses.end(), [&](const VariableUse& use) {
    const auto known = cells.find(use.identity);
    return known == cells.end() || known->second.form == use.form;
  });
}

void Rules::declare(const Recipe& recipe) {
  for (const VariableUse& use : recipe.uses) {
    Cell cell{use.form, use.initial, !use.initial.empty() || zero_init, false, true};
    cell.bytes.resize(use.bytes());
    cells.emplace(use.identity, std::move(cell));
  }
}

void Rules::begin(const Recipe& recipe) {
  for (const VariableUse& use : recipe.uses) {
    if (cells.at(use.identity).untouched) cells.erase(use.identity);
  }
  declare(recipe);
  for (const VariableUse& use : recipe.uses) cells.at(use.identity).untouched = false;
}

Outcome Rules::execute(const Recipe& recipe, const std::vector<graph::Value>& inputs) {
  Outcome outcome;
  begin(recipe);
  size_t next = 0;
  for (const VariableUse& use : recipe.uses) {
    Cell cell = cells.at(use.identity);
    std::vector<Cell>& passed = outcome.passed[use.identity];
    passed.push_back(cell);
    if (reads_old(use.use) && (!cell.is_written || cell.torn)) {
      const ErrorCode code = cell.is_written ? ErrorCode::kVariableTorn : ErrorCode::kVariableUnwritten;
      if (outcome.codes.empty()) outcome.first = code;
      outcome.codes.insert(code);
    }
    std::vector<uint8_t> output = cell.bytes;
    for (size_t i = 0; i < inputs_of(use.use); ++i) {
      const std::vector<uint8_t>& input = inputs.at(next++).bytes;
      cell = {use.form, use.use == Use::kMix ? mixed(cell.bytes, input) : input, true, false};
      passed.push_back(cell);
    }
    if (use.use != Use::kRead && use.use != Use::kReadThenWrite) output = cell.bytes;
    if (use.use != Use::kWrite) outcome.outputs.push_back({use.form.type, use.form.shape, output});
    if (outcome.codes.empty()) cells[use.identity] = cell;
  }
  return outcome;
}

void Rules::write(const std::string& identity, std::vector<uint8_t> bytes) {
  Cell& cell = cells.at(identity);
  cell.bytes = std::move(bytes);
  cell.is_written = true;
  cell.torn = cell.untouched = false;
}

}  // namespace npu::test
