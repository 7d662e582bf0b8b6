// SPDX-License-Identifier: Apache-2.0
// Rules of sizes, as tests write them.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "driver/compiler/size_table.h"

namespace npu::compiler::testing {

// Of one value: each piece has least, multiplier and addend.
inline SizeTable::Rule rule_of(uint16_t value, const std::vector<std::array<int32_t, 3>>& pieces,
                               std::vector<uint32_t> words) {
  SizeTable::Rule rule;
  rule.selector = rule.first = rule.second = value;
  for (const auto& [least, multiplier, addend] : pieces) rule.pieces.push_back({least, multiplier, 0, addend});
  rule.words = std::move(words);
  return rule;
}

}  // namespace npu::compiler::testing
