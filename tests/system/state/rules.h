// SPDX-License-Identifier: Apache-2.0
// The rules of state once more, as plainly as can be: one map per context. What random tests compare reference and
// device with, so it shares no code about state with either of them: only the types of graphs and values, with their
// sizes, the builder, and the names of errors.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "driver/graph/graph.h"
#include "driver/graph/value.h"
#include "hw/contract/error.h"

namespace npu::test {

// What a graph does with a variable. kMix writes old XOR input.
enum class Use { kRead, kWrite, kReadThenWrite, kWriteThenRead, kWriteTwice, kMix };

struct Form {
  graph::DType type;
  graph::Shape shape;
  bool operator==(const Form&) const = default;
};

struct VariableUse {
  std::string identity;
  Form form;
  Use use;
  std::vector<uint8_t> initial;  // empty: none
  // Of machine elements, in C order.
  [[nodiscard]] size_t bytes() const;
};

// A small graph: one use after the other, each with inputs and outputs of its own.
struct Recipe {
  std::vector<VariableUse> uses;           // of different variables
  bool operators = false;                  // declares by VARIABLE operators
  uint64_t persistent_bytes = UINT64_MAX;  // that it is compiled for: what does not fit lives in DRAM
};

// Six identities, each with two forms that do not fit together, so that recipes meet and collide.
[[nodiscard]] Recipe random_recipe(std::mt19937& random);
[[nodiscard]] graph::Graph build(const Recipe& recipe);

// A variable.
struct Cell {
  Form form;
  std::vector<uint8_t> bytes;
  bool is_written = false;
  bool torn = false;       // cannot be read, if it is written
  bool untouched = false;  // not used yet: the graph that is executed first gives it its initial value
};

struct Outcome {
  std::set<contract::ErrorCode> codes;                   // what it may be refused with; empty: nothing stops it
  contract::ErrorCode first = contract::ErrorCode::kOk;  // of them, in operator order
  std::vector<graph::Value> outputs;
  // All contents that each written variable passes through, from the old one to the last.
  std::map<std::string, std::vector<Cell>> passed;
};

// One context.
struct Rules {
  bool zero_init = false, double_buffer = false;
  bool lost = false;  // and not acknowledged
  std::map<std::string, Cell> cells;

  // A variable that is there already must fit; then, and only then, all new ones get their initial values.
  [[nodiscard]] bool fits(const Recipe& recipe) const;
  void declare(const Recipe& recipe);
  // An execution declares them: what was only loaded before counts for nothing.
  void begin(const Recipe& recipe);
  // Runs use by use up to the first refusal. The recipe must be declared.
  [[nodiscard]] Outcome execute(const Recipe& recipe, const std::vector<graph::Value>& inputs);
  void write(const std::string& identity, std::vector<uint8_t> bytes);
};

}  // namespace npu::test
