// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/size_table.h"

#include <algorithm>

#include "driver/graph/size_functions.h"
#include "hw/contract/error.h"

namespace npu::compiler {
namespace {

constexpr uint32_t kMagic = 0x455a4953;  // 'SIZE'
constexpr uint32_t kVersion = 1;

std::optional<int64_t> evaluate(const SizeTable::Expression& expression, const SizeValues& values) {
  if (expression.operation == contract::SizeOperation::kConstant) return expression.immediate;
  const std::optional<int64_t> a = values.at(expression.a);
  if (!a) return std::nullopt;
  const bool unary = graph::is_unary(expression.operation);
  const std::optional<int64_t> b = unary ? a : values.at(static_cast<size_t>(expression.immediate));
  if (!b) return std::nullopt;
  const graph::SizeResult result = graph::apply(expression.operation, *a, *b);
  return result.undefined == nullptr ? std::optional(result.value) : std::nullopt;
}

template <typename Structure>
void append(const Structure& structure, std::vector<uint8_t>& out) {
  out.resize(out.size() + Structure::kBytes);
  structure.store(out.data() + out.size() - Structure::kBytes);
}

void append_word(uint32_t word, std::vector<uint8_t>& out) {
  for (int byte = 0; byte < 4; ++byte) out.push_back(static_cast<uint8_t>(word >> (8 * byte)));
}

void append_rule(const SizeTable::Rule& rule, std::vector<uint8_t>& out) {
  contract::SizeRule header;
  header.selector = rule.selector;
  header.first = rule.first;
  header.second = rule.second;
  header.most = rule.most;
  header.pieces = static_cast<uint16_t>(rule.pieces.size());
  header.words = static_cast<uint32_t>(rule.words.size());
  append(header, out);
  for (const SizeTable::Piece& from : rule.pieces) {
    contract::SizePiece piece;
    piece.least = from.least;
    piece.first_multiplier = from.first_multiplier;
    piece.second_multiplier = from.second_multiplier;
    piece.addend = from.addend;
    append(piece, out);
  }
  for (const uint32_t word : rule.words) append_word(word, out);
}

}  // namespace

bool is_within(std::span<const int64_t> sizes, const SizeTable& table) {
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < table.symbols[i].least || sizes[i] > table.symbols[i].most) return false;
  }
  return true;
}

SizeValues evaluate(const SizeTable& table, std::span<const int64_t> sizes) {
  NPU_CHECK(sizes.size() == table.symbols.size());
  SizeValues values(sizes.begin(), sizes.end());
  for (const SizeTable::Expression& expression : table.expressions) values.push_back(evaluate(expression, values));
  return values;
}

bool holds(const SizeTable::Condition& condition, const SizeValues& values) {
  const std::optional<int64_t> left = values.at(condition.left);
  const std::optional<int64_t> right = graph::is_unary(condition.relation) ? left : values.at(condition.right);
  return left && right && graph::related(condition.relation, *left, *right);
}

std::optional<uint32_t> word_of(const SizeTable::Rule& rule, const SizeValues& values) {
  const int64_t selector = values.at(rule.selector).value();
  if (selector > rule.most) return std::nullopt;
  const SizeTable::Piece* piece = &rule.pieces.front();
  for (const SizeTable::Piece& next : rule.pieces) {
    if (selector >= next.least) piece = &next;
  }
  const auto low = [](int64_t value) { return static_cast<uint32_t>(value); };
  return low(values.at(rule.first).value()) * low(piece->first_multiplier) +
         low(values.at(rule.second).value()) * low(piece->second_multiplier) + low(piece->addend);
}

void apply_rules(const SizeTable& table, const SizeValues& values, std::span<uint32_t> commands) {
  for (const SizeTable::Rule& rule : table.rules) {
    const std::optional<uint32_t> word = word_of(rule, values);
    if (!word) continue;
    for (const uint32_t at : rule.words) commands[at] = *word;
  }
}

uint64_t encoded_bytes(const SizeTable& table) {
  uint64_t bytes = contract::SizeTable::kBytes + table.symbols.size() * contract::SizeBounds::kBytes +
                   table.expressions.size() * contract::SizeExpression::kBytes +
                   table.conditions.size() * contract::SizeCondition::kBytes + table.results.size() * sizeof(uint32_t);
  for (const SizeTable::Rule& rule : table.rules) {
    bytes += contract::SizeRule::kBytes + rule.pieces.size() * contract::SizePiece::kBytes +
             rule.words.size() * sizeof(uint32_t);
  }
  return (bytes + 7) / 8 * 8;
}

std::vector<uint8_t> encode(const SizeTable& table) {
  std::vector<uint8_t> out(contract::SizeTable::kBytes);
  for (const SizeTable::Symbol& symbol : table.symbols) {
    contract::SizeBounds bounds;
    bounds.least = symbol.least;
    bounds.most = symbol.most;
    append(bounds, out);
  }
  for (const SizeTable::Expression& from : table.expressions) {
    contract::SizeExpression expression;
    expression.operation = static_cast<uint8_t>(from.operation);
    expression.a = from.a;
    expression.immediate = from.immediate;
    append(expression, out);
  }
  for (const SizeTable::Condition& from : table.conditions) {
    contract::SizeCondition condition;
    condition.relation = static_cast<uint8_t>(from.relation);
    condition.left = from.left;
    condition.right = from.right;
    append(condition, out);
  }
  for (const uint16_t value : table.results) append_word(value, out);
  for (const SizeTable::Rule& rule : table.rules) append_rule(rule, out);
  while (out.size() % 8 != 0) out.push_back(0);

  contract::SizeTable header;
  header.magic = kMagic;
  header.version = kVersion;
  header.total_bytes = static_cast<uint32_t>(out.size());
  header.symbols = static_cast<uint16_t>(table.symbols.size());
  header.expressions = static_cast<uint16_t>(table.expressions.size());
  header.conditions = static_cast<uint16_t>(table.conditions.size());
  header.results = static_cast<uint16_t>(table.results.size());
  header.rules = static_cast<uint32_t>(table.rules.size());
  header.hash = hash_of(out);
  header.store(out.data());
  return out;
}

uint32_t hash_of(std::span<const uint8_t> encoded) {
  uint32_t hash = 0x811c9dc5;
  for (const uint8_t byte : encoded.subspan(contract::SizeTable::kBytes)) hash = (hash ^ byte) * 0x01000193;
  return hash;
}

}  // namespace npu::compiler
