// SPDX-License-Identifier: Apache-2.0
// Words of a program as functions of its sizes (SizeTable::Rule). All sizes are there, so a rule is what the words are,
// and no guess of what they might be between samples.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "driver/compiler/size_table.h"

namespace npu::compiler::backend {

// By number of a value (size_table.h), what it is for each of the sizes.
using ValuesBySize = std::vector<std::vector<int64_t>>;

// What a word is for each of the sizes; nullopt where it does not count.
using WordBySize = std::vector<std::optional<uint32_t>>;

class RuleMaker {
 public:
  // Values are no larger than 2^31 - 1 where rules need them.
  explicit RuleMaker(ValuesBySize values);

  // Adds a word to the rules. Where it does not count it may be anything, but none of its bits of `reserved` is set.
  // False where none of these is enough: a piecewise affine function of one value; two words, one where some values are
  // all large enough and one elsewhere; an affine function of two values, piece by piece of a third one.
  [[nodiscard]] bool add(uint32_t word, const WordBySize& by_size, uint32_t reserved = 0);

  [[nodiscard]] std::vector<SizeTable::Rule> take();

 private:
  using Pieces = std::vector<SizeTable::Piece>;
  // Which values a rule is of.
  struct Of {
    size_t selector = 0, first = 0, second = 0;
    int32_t most = INT32_MAX;
  };

  // A word of commands, as add() has it.
  struct Word {
    WordBySize by_size;
    uint32_t reserved = 0;
    auto operator<=>(const Word&) const = default;
  };

  // The pieces of a word, if they are fewer than `limit`.
  [[nodiscard]] std::optional<Pieces> pieces_of(const Of& of, const Word& word, size_t limit) const;
  [[nodiscard]] bool keeps_reserved(const Of& of, const Word& word, const Pieces& pieces) const;
  // Numbers of the rules that make such a word; none: there are no such rules.
  using Rules = std::vector<size_t>;
  [[nodiscard]] Rules rules_of(const Word& word);
  [[nodiscard]] Rules rules_as_it_is(const Word& word);
  [[nodiscard]] Rules function_of(const Word& word);
  [[nodiscard]] Rules bounds_of(const Word& word);
  [[nodiscard]] Rules sum_of(const Word& word);
  size_t number_of(const Of& of, Pieces pieces);

  using Key =
      std::tuple<uint16_t, uint16_t, uint16_t, int32_t, std::vector<std::tuple<int32_t, int32_t, int32_t, int32_t>>>;

  const ValuesBySize values_;
  std::vector<std::vector<uint32_t>> orders_;  // by value: the sizes in its ascending order
  std::map<Key, size_t> known_;
  std::map<Word, Rules> words_;  // most are like others
  std::vector<SizeTable::Rule> rules_;
};

}  // namespace npu::compiler::backend
