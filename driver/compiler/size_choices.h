// SPDX-License-Identifier: Apache-2.0
// All choices of sizes within bounds that a graph allows.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "driver/compiler/bounds.h"
#include "driver/graph/infer.h"

namespace npu::compiler {

struct SizeRange {
  int64_t least = 1, most = 1;
};
// One a size.
[[nodiscard]] bool is_within(std::span<const int64_t> sizes, std::span<const SizeRange> box);

// What must hold of sizes.
struct SizeDemand {
  contract::SizeRelation relation = contract::SizeRelation::kEqual;
  graph::Dim left, right;
  std::string text;  // with who demands it
};

class SizeChoices {
 public:
  // `inference`: of the graph. Throws what compile_bounds() says of bounds. Both must outlive the object.
  SizeChoices(const graph::Graph& graph, const graph::Inference& inference, std::span<const SizeBounds> bounds);

  // The symbols that sizes are chosen for; others follow from them.
  [[nodiscard]] const std::vector<graph::SymbolId>& symbols() const { return symbols_; }
  [[nodiscard]] const std::vector<SizeRange>& ranges() const { return ranges_; }  // one a symbol
  // A size for each of them; the largest choices first.
  [[nodiscard]] const std::vector<std::vector<int64_t>>& choices() const { return choices_; }

  // Sizes within the bounds that the graph does not take.
  [[nodiscard]] std::vector<std::vector<int64_t>> refused() const;

  // What must hold of sizes in a box, because not all of them hold it.
  [[nodiscard]] std::vector<SizeDemand> demands(std::span<const SizeRange> box) const;

  // For one of the choices; nullopt where it has no value.
  [[nodiscard]] std::optional<int64_t> evaluate(const graph::Dim& dim, size_t choice) const;

 private:
  void take_bounds(std::span<const SizeBounds> bounds);
  void take_symbols();
  void take_demands(const graph::Graph& graph);
  void enumerate();
  void look_at(const std::vector<int64_t>& sizes);

  // Sizes within the bounds that break something: the demands, by number.
  struct Refused {
    std::vector<int64_t> sizes;
    std::vector<uint32_t> broken;
  };

  const graph::Inference& inference_;
  std::vector<std::optional<SizeRange>> bounds_;  // by symbol's number
  std::vector<graph::SymbolId> symbols_;
  std::vector<SizeRange> ranges_;
  std::vector<SizeDemand> demands_;
  std::vector<std::vector<int64_t>> choices_, filled_;  // filled_: values of all symbols, by number
  std::vector<Refused> refused_;
};

// Ranges that hold choice `largest` and none of those that are not `taken`. Those that are outside lose `taken`.
[[nodiscard]] std::vector<SizeRange> box_of(const std::vector<std::vector<int64_t>>& choices, size_t largest,
                                            std::vector<bool>& taken);

}  // namespace npu::compiler
