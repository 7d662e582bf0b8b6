// SPDX-License-Identifier: Apache-2.0
// What a program that was compiled for sizes within bounds does with the sizes of a job: the contract's structure
// size_table, as the compiler makes it, the driver reads it, and the firmware gets it.
//
// Symbols have numbers; so have expressions, behind them. A value is that of a symbol or an expression. Rules say which
// words of the main stream are which function of values. For the upper bounds the words are those of the program.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hw/contract/gen/commands.h"

namespace npu::compiler {

struct SizeTable {
  struct Symbol {
    std::string name;  // "x.0": dimension 0 of input x
    int32_t least = 1, most = 1;
  };
  struct Expression {
    contract::SizeOperation operation = contract::SizeOperation::kConstant;
    uint16_t a = 0;
    int32_t immediate = 0;  // the constant, or the number of value b
  };
  struct Condition {
    contract::SizeRelation relation = contract::SizeRelation::kEqual;
    uint16_t left = 0, right = 0;
    std::string text;  // with the operator, for people: "x.0 must equal y.0, says operator 3 (ADD)"
  };
  // From `least` of the selector on, up to the next piece, a word is first * first_multiplier + second *
  // second_multiplier + addend, modulo 2^32.
  struct Piece {
    int32_t least = 0, first_multiplier = 0, second_multiplier = 0, addend = 0;
    bool operator==(const Piece&) const = default;
  };
  struct Rule {
    uint16_t selector = 0, first = 0, second = 0;  // numbers of values
    int32_t most = INT32_MAX;                      // where the selector is larger, words stay as they are
    std::vector<Piece> pieces;                     // ascending; not empty
    std::vector<uint32_t> words;                   // of the main stream
  };

  std::vector<Symbol> symbols;
  std::vector<Expression> expressions;
  std::vector<Condition> conditions;
  std::vector<uint16_t> results;  // values that come back with the completion: sizes of outputs
  std::vector<Rule> rules;        // in the order in which they take effect

  // Sizes are fixed.
  [[nodiscard]] bool empty() const { return symbols.empty(); }
};

// Whether sizes, one a symbol, are within the bounds.
[[nodiscard]] bool is_within(std::span<const int64_t> sizes, const SizeTable& table);

// A value for each symbol and expression; nullopt where it is not defined.
using SizeValues = std::vector<std::optional<int64_t>>;

// `sizes`: one a symbol, within any bounds.
[[nodiscard]] SizeValues evaluate(const SizeTable& table, std::span<const int64_t> sizes);
[[nodiscard]] bool holds(const SizeTable::Condition& condition, const SizeValues& values);
// What the words of a rule are; nullopt where it leaves them as they are. Its values are defined.
[[nodiscard]] std::optional<uint32_t> word_of(const SizeTable::Rule& rule, const SizeValues& values);
// Writes the words that the sizes decide. Rules name words of `commands`, and their values are defined.
void apply_rules(const SizeTable& table, const SizeValues& values, std::span<uint32_t> commands);

// Bytes of encode().
[[nodiscard]] uint64_t encoded_bytes(const SizeTable& table);
// As the firmware reads it: structure size_table and all that follows it.
[[nodiscard]] std::vector<uint8_t> encode(const SizeTable& table);
// FNV-1a over what follows the header, as that says it.
[[nodiscard]] uint32_t hash_of(std::span<const uint8_t> encoded);

}  // namespace npu::compiler
