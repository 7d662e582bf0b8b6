// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/schedule/size_rules.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

namespace npu::compiler::backend {
namespace {

// A piece has 16 bytes, and the firmware looks at all of them.
constexpr size_t kMostPieces = 512;
constexpr size_t kFewPieces = 4;  // enough not to look for fewer

// A word where two values are these.
struct Point {
  int64_t first = 0, second = 0;
  uint32_t word = 0;
};

// An affine function of two values.
struct Plane {
  int32_t first = 0, second = 0, addend = 0;
  [[nodiscard]] bool holds(const Point& point) const {
    return static_cast<uint32_t>(point.first) * static_cast<uint32_t>(first) +
               static_cast<uint32_t>(point.second) * static_cast<uint32_t>(second) + static_cast<uint32_t>(addend) ==
           point.word;
  }
};

std::optional<int32_t> ratio(int64_t a, int64_t b) {
  if (b == 0 || a % b != 0) return std::nullopt;
  const int64_t value = a / b;
  if (value < std::numeric_limits<int32_t>::min() || value > std::numeric_limits<int32_t>::max()) return std::nullopt;
  return static_cast<int32_t>(value);
}

// A plane with whole factors through all points. The first one has no factors that it does not need.
std::optional<Plane> plane_of(const std::vector<Point>& points) {
  const Point& origin = points.front();
  const auto u = [&](size_t i) { return points[i].first - origin.first; };
  const auto v = [&](size_t i) { return points[i].second - origin.second; };
  const auto rise = [&](size_t i) { return int64_t{static_cast<int32_t>(points[i].word - origin.word)}; };
  size_t a = 1;
  while (a < points.size() && u(a) == 0 && v(a) == 0) ++a;
  std::optional<int32_t> first = 0, second = 0;
  if (a < points.size()) {
    size_t b = a + 1;
    while (b < points.size() && u(a) * v(b) == u(b) * v(a)) ++b;
    if (b < points.size()) {
      const int64_t det = u(a) * v(b) - u(b) * v(a);
      first = ratio(rise(a) * v(b) - rise(b) * v(a), det);
      second = ratio(u(a) * rise(b) - u(b) * rise(a), det);
    } else if (const auto along = ratio(rise(a), u(a))) {
      first = along;
    } else {
      second = ratio(rise(a), v(a));
    }
  }
  if (!first || !second) return std::nullopt;
  Plane plane{*first, *second, 0};
  plane.addend =
      static_cast<int32_t>(origin.word - static_cast<uint32_t>(origin.first) * static_cast<uint32_t>(*first) -
                           static_cast<uint32_t>(origin.second) * static_cast<uint32_t>(*second));
  const auto holds = [&](const Point& point) { return plane.holds(point); };
  if (!std::all_of(points.begin(), points.end(), holds)) return std::nullopt;
  return plane;
}

const SizeTable::Piece& piece_of(const std::vector<SizeTable::Piece>& pieces, int64_t selector) {
  const auto above =
      std::find_if(pieces.begin() + 1, pieces.end(), [&](const auto& one) { return one.least > selector; });
  return *std::prev(above);
}

uint32_t value_of(const SizeTable::Piece& piece, int64_t first, int64_t second) {
  return static_cast<uint32_t>(first) * static_cast<uint32_t>(piece.first_multiplier) +
         static_cast<uint32_t>(second) * static_cast<uint32_t>(piece.second_multiplier) +
         static_cast<uint32_t>(piece.addend);
}

}  // namespace

RuleMaker::RuleMaker(ValuesBySize values) : values_(std::move(values)) {
  for (const std::vector<int64_t>& by_size : values_) {
    std::vector<uint32_t>& order = orders_.emplace_back(by_size.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return by_size[a] < by_size[b]; });
  }
}

// Goes through the sizes by the selector, and begins a piece where the one before can take no more.
std::optional<RuleMaker::Pieces> RuleMaker::pieces_of(const Of& of, const Word& word, size_t limit) const {
  const WordBySize& by_size = word.by_size;
  const std::vector<int64_t>&selectors = values_[of.selector], &firsts = values_[of.first],
        &seconds = values_[of.second];
  const std::vector<uint32_t>& order = orders_[of.selector];
  Pieces pieces;
  std::vector<Point> points, group;  // of the last piece; of one value of the selector
  std::optional<Plane> plane;
  for (size_t at = 0; at < order.size();) {
    const int64_t selector = selectors[order[at]];
    group.clear();
    for (; at < order.size() && selectors[order[at]] == selector; ++at) {
      const uint32_t size = order[at];
      if (by_size[size]) group.push_back({firsts[size], of.second == of.first ? 0 : seconds[size], *by_size[size]});
    }
    if (group.empty()) continue;
    if (selector > std::numeric_limits<int32_t>::max()) return std::nullopt;
    const bool goes_on =
        plane && std::all_of(group.begin(), group.end(), [&](const Point& point) { return plane->holds(point); });
    points.insert(points.end(), group.begin(), group.end());
    if (goes_on) continue;
    std::optional<Plane> anew = plane ? plane_of(points) : std::nullopt;
    if (!anew) {
      anew = plane_of(group);
      if (!anew || pieces.size() + 1 >= limit) return std::nullopt;
      points = group;
      pieces.push_back({static_cast<int32_t>(selector), 0, 0, 0});
    }
    plane = anew;
    pieces.back() = {pieces.back().least, plane->first, plane->second, plane->addend};
  }
  if (pieces.empty()) return std::nullopt;
  // Below the first size that counts it says something, too.
  pieces.front().least = static_cast<int32_t>(std::min<int64_t>(pieces.front().least, selectors[order.front()]));
  if (!keeps_reserved(of, word, pieces)) return std::nullopt;
  return pieces;
}

bool RuleMaker::keeps_reserved(const Of& of, const Word& word, const Pieces& pieces) const {
  if (word.reserved == 0) return true;
  const std::vector<int64_t>&selectors = values_[of.selector], &firsts = values_[of.first],
        &seconds = values_[of.second];
  for (size_t size = 0; size < word.by_size.size(); ++size) {
    if (word.by_size[size]) continue;
    const SizeTable::Piece& piece = piece_of(pieces, selectors[size]);
    if ((value_of(piece, firsts[size], seconds[size]) & word.reserved) != 0) return false;
  }
  return true;
}

bool RuleMaker::add(uint32_t word, const WordBySize& by_size, uint32_t reserved) {
  const auto [known, fresh] = words_.try_emplace(Word{by_size, reserved});
  if (fresh) known->second = rules_of(known->first);
  for (const size_t rule : known->second) rules_[rule].words.push_back(word);
  return !known->second.empty();
}

RuleMaker::Rules RuleMaker::rules_of(const Word& word) {
  Rules rules = rules_as_it_is(word);
  const WordBySize& by_size = word.by_size;
  const auto any = std::find_if(by_size.begin(), by_size.end(), [](const auto& one) { return one.has_value(); });
  if (!rules.empty() || word.reserved == 0 || any == by_size.end()) return rules;
  // Any word of another size keeps the reserved bits.
  Word filled{by_size, 0};
  std::replace(filled.by_size.begin(), filled.by_size.end(), std::optional<uint32_t>(), *any);
  return rules_as_it_is(filled);
}

RuleMaker::Rules RuleMaker::rules_as_it_is(const Word& word) {
  Rules rules = function_of(word);
  if (rules.empty()) rules = bounds_of(word);
  return rules.empty() ? sum_of(word) : rules;
}

RuleMaker::Rules RuleMaker::function_of(const Word& word) {
  std::optional<Pieces> best;
  Of best_of;
  for (size_t value = 0; value < values_.size(); ++value) {
    const Of of{value, value, value};
    std::optional<Pieces> pieces = pieces_of(of, word, best ? best->size() : kMostPieces + 1);
    if (!pieces) continue;
    best = std::move(pieces);
    best_of = of;
    if (best->size() == 1) break;
  }
  if (!best) return {};
  return {number_of(best_of, *std::move(best))};
}

RuleMaker::Rules RuleMaker::bounds_of(const Word& word) {
  const WordBySize& by_size = word.by_size;
  // The largest sizes come first: what they have is what large values have.
  const auto large = std::find_if(by_size.begin(), by_size.end(), [](const auto& one) { return one.has_value(); });
  const auto small = std::find_if(large, by_size.end(), [&](const auto& one) { return one && one != *large; });
  if (small == by_size.end()) return {};
  const bool two = std::all_of(by_size.begin(), by_size.end(),
                               [&](const auto& one) { return !one || one == *large || one == *small; });
  if (!two) return {};
  std::vector<bool> open(by_size.size());
  for (size_t size = 0; size < by_size.size(); ++size) open[size] = by_size[size] && by_size[size] != *large;
  struct Bound {
    size_t value = 0;
    int64_t least = 0;
  };
  std::vector<Bound> bounds;
  for (size_t value = 0; value < values_.size(); ++value) {
    int64_t least = std::numeric_limits<int32_t>::max();
    for (size_t size = 0; size < by_size.size(); ++size) {
      if (by_size[size] == *large) least = std::min(least, values_[value][size]);
    }
    bool useful = false;
    for (size_t size = 0; size < by_size.size(); ++size) {
      if (!open[size] || values_[value][size] >= least) continue;
      open[size] = false;
      useful = true;
    }
    if (useful) bounds.push_back({value, least});
  }
  if (std::find(open.begin(), open.end(), true) != open.end()) return {};
  const auto addend = [](uint32_t one) { return static_cast<int32_t>(one); };
  Rules rules;
  for (size_t i = 0; i < bounds.size(); ++i) {
    const auto [value, least] = bounds[i];
    const auto smallest = static_cast<int32_t>(values_[value][orders_[value].front()]);
    const auto bound = static_cast<int32_t>(least);
    if (i == 0) {
      rules.push_back(
          number_of({value, value, value}, {{smallest, 0, 0, addend(**small)}, {bound, 0, 0, addend(**large)}}));
    } else {
      rules.push_back(number_of({value, value, value, bound - 1}, {{smallest, 0, 0, addend(**small)}}));
    }
  }
  return rules;
}

RuleMaker::Rules RuleMaker::sum_of(const Word& word) {
  std::optional<Pieces> best;
  Of best_of;
  for (size_t selector = 0; selector < values_.size(); ++selector) {
    for (size_t first = 0; first < values_.size(); ++first) {
      for (size_t second = first + 1; second < values_.size(); ++second) {
        const Of of{selector, first, second};
        std::optional<Pieces> pieces = pieces_of(of, word, best ? best->size() : kMostPieces + 1);
        if (!pieces) continue;
        best = std::move(pieces);
        best_of = of;
        if (best->size() > kFewPieces) continue;
        return {number_of(best_of, *std::move(best))};
      }
    }
  }
  if (!best) return {};
  return {number_of(best_of, *std::move(best))};
}

size_t RuleMaker::number_of(const Of& of, Pieces pieces) {
  const auto narrow = [](size_t value) { return static_cast<uint16_t>(value); };
  Key key{narrow(of.selector), narrow(of.first), narrow(of.second), of.most, {}};
  for (const SizeTable::Piece& piece : pieces) {
    std::get<4>(key).emplace_back(piece.least, piece.first_multiplier, piece.second_multiplier, piece.addend);
  }
  const auto [known, fresh] = known_.try_emplace(std::move(key), rules_.size());
  if (fresh) {
    rules_.push_back({narrow(of.selector), narrow(of.first), narrow(of.second), of.most, std::move(pieces), {}});
  }
  return known->second;
}

// What leaves words as they are takes effect behind what makes them.
std::vector<SizeTable::Rule> RuleMaker::take() {
  std::stable_partition(rules_.begin(), rules_.end(),
                        [](const SizeTable::Rule& rule) { return rule.most == std::numeric_limits<int32_t>::max(); });
  return std::move(rules_);
}

}  // namespace npu::compiler::backend
