// SPDX-License-Identifier: Apache-2.0
// Whether conditions hold: by their form, and by the bounds of symbols.
#include <algorithm>
#include <numeric>

#include "driver/graph/open_sizes.h"
#include "driver/graph/size_bounds.h"
#include "hw/contract/error.h"

namespace npu::graph {

bool holds(const Condition& condition, std::span<const int64_t> values) {
  const auto left = condition.left.evaluate(values), right = condition.right.evaluate(values);
  return left && right && related(condition.relation, *left, *right);
}

OpenSizes::Interval OpenSizes::interval(const Dim& dim) const {
  Interval sum;
  for (const Dim::Term& term : dim.terms()) {
    Interval product{clamped(term.coefficient), clamped(term.coefficient)};
    for (const Dim::Factor& factor : term.factors) {
      const Interval other = factor.call != nullptr ? interval(*factor.call)
                                                    : Interval{clamped(symbols_[factor.symbol].low),
                                                               clamped(symbols_[factor.symbol].high)};
      product = {std::min({clamped_product(product.low, other.low), clamped_product(product.low, other.high),
                           clamped_product(product.high, other.low), clamped_product(product.high, other.high)}),
                 std::max({clamped_product(product.low, other.low), clamped_product(product.low, other.high),
                           clamped_product(product.high, other.low), clamped_product(product.high, other.high)})};
    }
    sum = {clamped_sum(sum.low, product.low, -kFar), clamped_sum(sum.high, product.high, kFar)};
  }
  if (dim.denominator() == 1) return sum;
  return {sum.low == -kFar ? -kFar : divided_up(sum.low, dim.denominator()),
          sum.high == kFar ? kFar : divided_down(sum.high, dim.denominator())};
}

OpenSizes::Interval OpenSizes::interval(const Dim::Call& call) const {
  const Interval a = interval(call.a), b = interval(call.b);
  switch (call.function) {
    case SizeOperation::kMax:
      return {std::max(a.low, b.low), std::max(a.high, b.high)};
    case SizeOperation::kMin:
      return {std::min(a.low, b.low), std::min(a.high, b.high)};
    case SizeOperation::kMod:
      return {0, std::max<int64_t>(b.high - 1, 0)};
    case SizeOperation::kDivFloor:
    case SizeOperation::kDivCeil:
      if (b.low < 1) break;
      // Rounded up, a quotient is at most one more.
      return {a.low == -kFar ? -kFar : divided_down(a.low, a.low < 0 ? b.low : b.high),
              a.high == kFar ? kFar : divided_down(a.high, a.high < 0 ? b.high : b.low) + 1};
    case SizeOperation::kExp2:
      return {1, kFar};
    case SizeOperation::kLog2Floor:
    case SizeOperation::kLog2Ceil:
      return {0, 63};
    default:
      break;
  }
  return {-kFar, kFar};
}

OpenSizes::Verdict OpenSizes::judge_equal(const Dim& difference) const {
  if (const auto number = difference.number()) return *number == 0 ? Verdict::kHolds : Verdict::kFails;
  const Interval range = interval(difference);
  if (range.low > 0 || range.high < 0 || range.low > range.high) return Verdict::kFails;
  // No whole numbers solve 2*a + 4*b = 3.
  int64_t common = 0, constant = 0;
  for (const Dim::Term& term : difference.terms()) {
    (term.factors.empty() ? constant : common) =
        term.factors.empty() ? term.coefficient : std::gcd(common, term.coefficient);
  }
  return common == 0 || constant % common != 0 ? Verdict::kFails : Verdict::kOpen;
}

OpenSizes::Verdict OpenSizes::judge_multiple(const Dim& left, const Dim& right) {
  const auto number = right.number();
  if (!number) {
    const Dim quotient = left.quotient(right);
    bool whole = quotient.denominator() == 1;
    for (const Dim::Term& term : quotient.terms()) {
      for (const Dim::Factor& factor : term.factors) {
        whole = whole && (factor.call == nullptr || factor.call->function != SizeOperation::kQuotient);
      }
    }
    return whole ? Verdict::kHolds : Verdict::kOpen;
  }
  int64_t divisor = 0;
  if (__builtin_mul_overflow(left.denominator(), *number, &divisor) || divisor < 1) return Verdict::kOpen;
  int64_t common = divisor;
  int64_t constant = 0;
  for (const Dim::Term& term : left.terms()) {
    if (term.factors.empty()) {
      constant = term.coefficient;
    } else {
      common = std::gcd(common, term.coefficient);
    }
  }
  if (constant % common != 0) return Verdict::kFails;
  return common == divisor ? Verdict::kHolds : Verdict::kOpen;
}

OpenSizes::Verdict OpenSizes::judge(const Condition& condition, Bounds bounds) const {
  const Dim& left = condition.left;
  switch (condition.relation) {
    case SizeRelation::kEqual:
      return judge_equal(left - condition.right);
    case SizeRelation::kMultiple:
      return judge_multiple(left, condition.right);
    case SizeRelation::kAtLeast: {
      const Dim difference = left - condition.right;
      const Interval range = interval(difference);
      if (range.high < 0) return Verdict::kFails;
      return range.low >= 0 && (bounds == Bounds::kDecide || difference.is_number()) ? Verdict::kHolds : Verdict::kOpen;
    }
    case SizeRelation::kPowerOfTwo:
      if (!left.is_number()) return Verdict::kOpen;
      return related(SizeRelation::kPowerOfTwo, *left.number(), 0) ? Verdict::kHolds : Verdict::kFails;
    case SizeRelation::kDefined:
      if (left.symbols().empty()) return left.evaluate({}) ? Verdict::kHolds : Verdict::kFails;
      return bounds == Bounds::kDecide && is_defined(left) ? Verdict::kHolds : Verdict::kOpen;
  }
  NPU_CHECK(false);
}

// By the bounds of its operands.
bool OpenSizes::is_defined(const Dim& dim) const {
  for (const Dim::Term& term : dim.terms()) {
    for (const Dim::Factor& factor : term.factors) {
      if (factor.call == nullptr) continue;
      const Interval a = interval(factor.call->a), b = interval(factor.call->b);
      if (!is_defined(factor.call->a) || !is_defined(factor.call->b)) return false;
      switch (factor.call->function) {
        case SizeOperation::kMax:
        case SizeOperation::kMin:
          break;
        case SizeOperation::kMod:
        case SizeOperation::kDivFloor:
        case SizeOperation::kDivCeil:
          if (a.low < 0 || b.low < 1) return false;
          break;
        case SizeOperation::kExp2:
          if (a.low < 0 || a.high > 62) return false;
          break;
        case SizeOperation::kLog2Floor:
        case SizeOperation::kLog2Ceil:
          if (a.low < 1) return false;
          break;
        default:
          return false;
      }
    }
  }
  return true;
}

// mod(x, 4) = 0: x is a multiple.
std::optional<Condition> OpenSizes::as_multiple(const Condition& condition) {
  const std::vector<Dim::Term> terms = (condition.left - condition.right).terms();
  if (condition.relation != SizeRelation::kEqual || terms.size() != 1 || terms[0].factors.size() != 1)
    return std::nullopt;
  const Dim::Call* call = terms[0].factors[0].call.get();
  if (call == nullptr || call->function != SizeOperation::kMod || call->b.number().value_or(0) < 1) return std::nullopt;
  return Condition{SizeRelation::kMultiple, call->a, call->b, condition.place, condition.why};
}

// In the smallest numbers that say the same.
void OpenSizes::reduce(Condition& condition) {
  const auto common_of = [](const Dim& dim, int64_t common) {
    for (const Dim::Term& term : dim.terms()) common = std::gcd(common, term.coefficient);
    return common;
  };
  Dim &left = condition.left, &right = condition.right;
  if (condition.relation == SizeRelation::kEqual && left.denominator() == 1 && right.denominator() == 1) {
    const int64_t common = common_of(left, common_of(right, 0));
    if (common <= 1) return;
    left = left.quotient(common);
    right = right.quotient(common);
  }
  const auto by = right.number();
  if (condition.relation != SizeRelation::kMultiple || !by) return;
  const Dim divisor = Dim(*by) * left.denominator();
  left = left.numerator();
  const int64_t common = common_of(left, *divisor.number());
  left = left.quotient(common);
  right = *divisor.number() / common;
  Dim rests = 0;
  for (const Dim::Term& term : left.terms()) {
    Dim product = term.coefficient % *right.number();
    for (const Dim::Factor& factor : term.factors) product = product * Dim::of_factor(factor);
    rests = rests + product;
  }
  left = rests;
}

std::optional<OpenSizes::Bound> OpenSizes::bound_of(const Condition& condition) const {
  if (condition.relation != SizeRelation::kAtLeast) return std::nullopt;
  std::optional<Dim::Affine> affine;
  try {
    affine = (condition.left - condition.right).affine();
  } catch (const NotExpressible&) {
    return std::nullopt;  // two symbols, or more
  }
  if (!affine || affine->terms.size() != 1) return std::nullopt;
  const auto& [symbol, factor] = affine->terms.front();
  // factor * symbol + constant >= 0
  if (factor > 0) return Bound{symbol, true, divided_up(-affine->constant, factor)};
  return Bound{symbol, false, divided_down(affine->constant, -factor)};
}

}  // namespace npu::graph
