// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/schedule/size_rules.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace npu::compiler::backend {
namespace {

// A piece has 12 bytes, and the firmware looks at all of them.
constexpr size_t kMostPieces = 1024;

bool fits(const SizeTable::Piece& piece, int64_t value, uint32_t word) {
  return static_cast<uint32_t>(value) * static_cast<uint32_t>(piece.multiplier) +
             static_cast<uint32_t>(piece.addend) ==
         word;
}

// The line through two points; nullopt where it has no whole slope.
std::optional<SizeTable::Piece> line(int64_t value, uint32_t word, int64_t next_value, uint32_t next_word) {
  const auto rise = static_cast<int32_t>(next_word - word);
  if (rise % (next_value - value) != 0) return std::nullopt;
  SizeTable::Piece piece;
  piece.least = static_cast<int32_t>(value);
  piece.multiplier = static_cast<int32_t>(rise / (next_value - value));
  piece.addend =
      static_cast<int32_t>(word - static_cast<uint32_t>(value) * static_cast<uint32_t>(piece.multiplier));
  return piece;
}

}  // namespace

RuleMaker::RuleMaker(const ValuesBySize& values) : values_(values) {
  for (const std::vector<int64_t>& by_size : values) {
    std::vector<uint32_t>& order = orders_.emplace_back(by_size.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return by_size[a] < by_size[b]; });
  }
}

std::optional<RuleMaker::Pieces> RuleMaker::pieces_of(size_t value, const WordBySize& by_size, size_t limit) const {
  Pieces pieces;
  bool open = false;  // the last piece is one point, whose slope the next one decides
  int64_t last = 0;
  uint32_t last_word = 0;
  for (const uint32_t size : orders_[value]) {
    if (!by_size[size]) continue;
    const int64_t at = values_[value][size];
    const uint32_t word = *by_size[size];
    if (!pieces.empty() && at == last) {
      if (word != last_word) return std::nullopt;
      continue;
    }
    if (at < std::numeric_limits<int32_t>::min() || at > std::numeric_limits<int32_t>::max()) return std::nullopt;
    const auto through = open ? line(last, last_word, at, word) : std::nullopt;
    if (through) {
      pieces.back() = *through;
      open = false;
    } else if (pieces.empty() || open || !fits(pieces.back(), at, word)) {
      if (pieces.size() + 1 >= limit) return std::nullopt;
      pieces.push_back({static_cast<int32_t>(at), 0, static_cast<int32_t>(word)});
      open = true;
    }
    last = at;
    last_word = word;
  }
  return pieces;
}

bool RuleMaker::add(uint32_t word, const WordBySize& by_size) {
  std::optional<Pieces> best;
  uint16_t of = 0;
  for (size_t value = 0; value < values_.size(); ++value) {
    const size_t limit = best ? best->size() : kMostPieces + 1;
    std::optional<Pieces> pieces = pieces_of(value, by_size, limit);
    if (!pieces || pieces->empty()) continue;
    best = std::move(pieces);
    of = static_cast<uint16_t>(value);
    if (best->size() == 1) break;
  }
  if (!best) return false;
  // Below the first size that counts it says something, too.
  best->front().least = static_cast<int32_t>(
      std::min<int64_t>(best->front().least, values_[of][orders_[of].front()]));
  const auto same = std::find_if(rules_.begin(), rules_.end(), [&](const SizeTable::Rule& rule) {
    return rule.value == of && rule.pieces == *best;
  });
  if (same != rules_.end()) {
    same->words.push_back(word);
  } else {
    rules_.push_back({of, std::move(*best), {word}});
  }
  return true;
}

}  // namespace npu::compiler::backend
