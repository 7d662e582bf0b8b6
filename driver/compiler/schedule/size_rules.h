// SPDX-License-Identifier: Apache-2.0
// Words of a program as functions of its sizes (SizeTable::Rule). All sizes are there, so a rule is what the words are,
// and no guess of what they might be between samples.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "driver/compiler/size_table.h"

namespace npu::compiler::backend {

// By number of a value (size_table.h), what it is for each of the sizes.
using ValuesBySize = std::vector<std::vector<int64_t>>;

// What a word is for each of the sizes; nullopt where it does not count.
using WordBySize = std::vector<std::optional<uint32_t>>;

class RuleMaker {
 public:
  // `values` of so many sizes; it must outlive the object.
  explicit RuleMaker(const ValuesBySize& values);

  // Adds a word to the rules. False where it is a function of none of the values.
  [[nodiscard]] bool add(uint32_t word, const WordBySize& by_size);

  [[nodiscard]] std::vector<SizeTable::Rule> take() { return std::move(rules_); }

 private:
  using Pieces = std::vector<SizeTable::Piece>;

  // The pieces of a word as a function of a value, if they are fewer than `limit`.
  [[nodiscard]] std::optional<Pieces> pieces_of(size_t value, const WordBySize& by_size, size_t limit) const;

  const ValuesBySize& values_;
  std::vector<std::vector<uint32_t>> orders_;  // by value: the sizes in its ascending order
  std::vector<SizeTable::Rule> rules_;
};

}  // namespace npu::compiler::backend
