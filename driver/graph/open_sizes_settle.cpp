// SPDX-License-Identifier: Apache-2.0
// What is left of all conditions once all values are known.
#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "driver/graph/open_sizes.h"
#include "driver/graph/size_bounds.h"

namespace npu::graph {

bool OpenSizes::narrow(const Condition& condition) {
  const auto bound = bound_of(condition);
  if (!bound) return true;
  Symbol& symbol = symbols_[bound->symbol];
  int64_t& end = bound->is_lower ? symbol.low : symbol.high;
  end = bound->is_lower ? std::max(end, bound->size) : std::min(end, bound->size);
  return symbol.low <= symbol.high;
}

OpenSizes::Outcome OpenSizes::look_again(Condition& condition, bool& changed) {
  condition.left = simplified(std::move(condition.left));
  condition.right = simplified(std::move(condition.right));
  const Verdict verdict = judge(condition, Bounds::kRefute);
  if (verdict == Verdict::kFails) return Outcome::kFails;
  if (verdict == Verdict::kHolds) return Outcome::kDrop;
  if (condition.relation == SizeRelation::kEqual) {
    if (auto solution = solve(condition.left - condition.right, condition.place)) {
      const bool holds = assign(*std::move(solution), condition.place);
      changed = true;  // not where the value has no expression, which another look does not change
      return holds ? Outcome::kDrop : Outcome::kFails;
    }
  }
  reduce(condition);
  return narrow(condition) ? Outcome::kKeep : Outcome::kFails;
}

std::optional<Condition> OpenSizes::settle() {
  bool changed = true;
  while (changed) {
    changed = false;
    std::vector<Condition> kept;
    known_.clear();
    // assign() adds conditions behind these.
    std::vector<Condition> all = std::move(conditions_);
    conditions_.clear();
    for (Condition& condition : all) {
      spend(1);
      const Condition before = condition;
      Outcome outcome = Outcome::kKeep;
      try {
        outcome = look_again(condition, changed);
      } catch (const NotExpressible&) {
        condition = before;
      }
      if (outcome == Outcome::kFails) return before;
      if (outcome == Outcome::kDrop) continue;
      if (known_.emplace(condition.relation, condition.left, condition.right).second)
        kept.push_back(std::move(condition));
    }
    std::move(conditions_.begin(), conditions_.end(), std::back_inserter(kept));
    conditions_ = std::move(kept);
  }
  drop_weaker_bounds();
  join_bounds_of_products();
  drop_implied_multiples();
  return std::nullopt;
}

// A bound that is weaker than another one of the same symbol, or that any size keeps.
void OpenSizes::drop_weaker_bounds() {
  std::set<std::pair<SymbolId, bool>> bounded;
  std::erase_if(conditions_, [&](const Condition& condition) {
    const auto bound = bound_of(condition);
    if (!bound) return false;
    const Symbol& symbol = symbols_[bound->symbol];
    const bool is_weaker = bound->is_lower ? bound->size < symbol.low || bound->size <= symbol.least
                                           : bound->size > symbol.high || bound->size >= symbol.most;
    return is_weaker || !bounded.emplace(bound->symbol, bound->is_lower).second;
  });
}

// Of tensors of 3*x*y, x*y / 2 and so on elements, all but the least of what x*y may be.
void OpenSizes::join_bounds_of_products() {
  std::map<Dim, int64_t> most;
  for (Condition& condition : conditions_) {
    const std::vector<Dim::Term> terms = condition.right.terms();
    if (condition.relation != SizeRelation::kAtLeast || !condition.left.is_number() || terms.size() != 1) continue;
    int64_t numerator = 0;
    const bool overflow = __builtin_mul_overflow(*condition.left.number(), condition.right.denominator(), &numerator);
    if (overflow || terms[0].coefficient < 1) continue;
    condition.left = divided_down(numerator, terms[0].coefficient);
    condition.right = (condition.right * condition.right.denominator()).quotient(terms[0].coefficient);
    const auto [known, added] = most.emplace(condition.right, *condition.left.number());
    if (!added) known->second = std::min(known->second, *condition.left.number());
  }
  std::set<Dim> done;
  std::erase_if(conditions_, [&](const Condition& condition) {
    const auto found = condition.relation == SizeRelation::kAtLeast ? most.find(condition.right) : most.end();
    if (found == most.end() || !condition.left.is_number()) return false;
    return *condition.left.number() > found->second || !done.insert(condition.right).second;
  });
}

// What is a multiple of 8 is one of 4.
void OpenSizes::drop_implied_multiples() {
  constexpr size_t kMost = 256;  // else the list is no use anyway
  std::vector<Condition> multiples;
  for (const Condition& condition : conditions_) {
    const bool is_one = condition.relation == SizeRelation::kMultiple && condition.right.is_number();
    if (is_one) multiples.push_back(condition);
  }
  if (multiples.size() > kMost) return;
  const auto is_implied = [&](const Condition& condition) {
    const auto by = condition.relation == SizeRelation::kMultiple ? condition.right.number() : std::nullopt;
    return by && std::any_of(multiples.begin(), multiples.end(), [&](const Condition& other) {
             const int64_t others = *other.right.number();
             return others > *by && others % *by == 0 && other.left.symbols() == condition.left.symbols() &&
                    judge_multiple(condition.left - other.left, condition.right) == Verdict::kHolds;
           });
  };
  std::erase_if(conditions_, [&](const Condition& condition) {
    try {
      return is_implied(condition);
    } catch (const NotExpressible&) {
      return false;
    }
  });
}

}  // namespace npu::graph
