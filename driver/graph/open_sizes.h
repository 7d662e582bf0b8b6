// SPDX-License-Identifier: Apache-2.0
// The sizes that a graph leaves open: what is equal to what, between which bounds each is, and what else must hold.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "driver/graph/dim.h"

namespace npu::graph {

// The largest size of a dimension: those of files have 32 bits.
inline constexpr int64_t kMostSize = INT32_MAX;

// The operator whose rule it is.
struct OperatorPlace {
  size_t region = 0, position = 0;
};

struct Condition {
  SizeRelation relation = SizeRelation::kEqual;
  Dim left, right;
  OperatorPlace place;
  std::string why;  // what the operator calls it: "stride"; or empty
};

// Whether it holds for values of the symbols, by their numbers. A left side without a value breaks it.
[[nodiscard]] bool holds(const Condition& condition, std::span<const int64_t> values);

struct Symbol {
  // Of which kind of tensor it is a size. Where several must be equal, those of results follow from the others, and
  // those of variables from those of inputs.
  enum class Of : uint8_t { kInput, kVariable, kResult };

  std::string name;  // "x.0"
  Of of = Of::kInput;
  int64_t least = 1, most = kMostSize;  // what its tensor allows
  int64_t low = 1, high = kMostSize;    // what the conditions leave
  std::optional<Dim> value;             // of other symbols, which have none themselves
  OperatorPlace because;                // of the value: the operator that demands it
};

class OpenSizes {
 public:
  [[nodiscard]] SymbolId add(std::string name, Symbol::Of of, int64_t least = 1, int64_t most = kMostSize);

  [[nodiscard]] const std::vector<Symbol>& symbols() const { return symbols_; }
  [[nodiscard]] const std::vector<Condition>& conditions() const { return conditions_; }
  // With the values of symbols in place of them, as far as that has an expression.
  [[nodiscard]] Dim simplified(Dim dim) const;
  [[nodiscard]] Dims simplified(Dims dims) const;

  // Notes what must hold. An equality gives a symbol a value where it can, a bound narrows one. False: no sizes fit.
  // Throws Error(budget_exceeded).
  [[nodiscard]] bool require(Condition condition);
  // Looks at all conditions again, now that all values are known, and leaves those out that the values make true. The
  // condition that no sizes fit, if there is one.
  [[nodiscard]] std::optional<Condition> settle();

  [[nodiscard]] std::string text(const Dim& dim) const;
  [[nodiscard]] std::string text(const Dims& dims) const;
  // "x.1 - 1 must be a multiple of 2 (stride)"
  [[nodiscard]] std::string text(const Condition& condition) const;
  [[nodiscard]] Dim::Names names() const;

 private:
  enum class Verdict : uint8_t { kHolds, kOpen, kFails };
  // Saturates: numbers beyond stand for anything that is larger.
  struct Interval {
    int64_t low = 0, high = 0;
  };
  struct Bound {
    SymbolId symbol = 0;
    bool is_lower = false;
    int64_t size = 0;
  };
  [[nodiscard]] bool take(Condition condition);
  enum class Bounds : uint8_t { kDecide, kRefute };  // whether bounds may make a condition true

  [[nodiscard]] Interval interval(const Dim& dim) const;
  [[nodiscard]] Interval interval(const Dim::Call& call) const;
  [[nodiscard]] Verdict judge(const Condition& condition, Bounds bounds) const;
  [[nodiscard]] Verdict judge_equal(const Dim& difference) const;
  [[nodiscard]] static Verdict judge_multiple(const Dim& left, const Dim& right);
  [[nodiscard]] bool is_defined(const Dim& dim) const;
  [[nodiscard]] static std::optional<Condition> as_multiple(const Condition& condition);
  static void reduce(Condition& condition);
  // Of a condition that bounds one symbol.
  [[nodiscard]] std::optional<Bound> bound_of(const Condition& condition) const;
  [[nodiscard]] bool narrow(const Condition& condition);
  // What one round of settle() does with a condition.
  enum class Outcome : uint8_t { kKeep, kDrop, kFails };
  [[nodiscard]] Outcome look_again(Condition& condition, bool& changed);
  void drop_weaker_bounds();
  void join_bounds_of_products();
  void drop_implied_multiples();

  struct Solution {
    SymbolId symbol = 0;
    Dim value;
    std::vector<Condition> conditions;  // without which it is none
  };
  [[nodiscard]] std::optional<Solution> solve(const Dim& difference, OperatorPlace place) const;
  [[nodiscard]] bool assign(Solution solution, OperatorPlace place);
  void spend(uint64_t steps);

  std::vector<Symbol> symbols_;
  std::vector<std::set<SymbolId>> users_;  // by symbol: those whose value it is in
  std::vector<Condition> conditions_;
  std::set<std::tuple<SizeRelation, Dim, Dim>> known_;
  uint64_t steps_ = 0;
};

}  // namespace npu::graph
