// SPDX-License-Identifier: Apache-2.0
#include "driver/graph/open_sizes.h"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "hw/contract/error.h"

namespace npu::graph {
namespace {

// Stands for anything as large, or larger.
constexpr int64_t kFar = int64_t{1} << 62;
// Looks at conditions and symbols. Networks need some thousands.
constexpr uint64_t kMostSteps = uint64_t{1} << 22;

int64_t clamped(int64_t value) { return std::clamp(value, -kFar, kFar); }

// Of numbers that are not beyond kFar. What may be anything stays so.
int64_t clamped_sum(int64_t a, int64_t b, int64_t anything) {
  return a == anything || b == anything ? anything : clamped(a + b);
}
int64_t clamped_product(int64_t a, int64_t b) {
  int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return (a < 0) == (b < 0) ? kFar : -kFar;
  return clamped(product);
}

int64_t divided_down(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); }
int64_t divided_up(int64_t a, int64_t b) { return -divided_down(-a, b); }

}  // namespace

bool holds(const Condition& condition, std::span<const int64_t> values) {
  const auto left = condition.left.evaluate(values), right = condition.right.evaluate(values);
  if (!left || !right) return false;
  switch (condition.relation) {
    case Relation::kEqual:
      return *left == *right;
    case Relation::kAtLeast:
      return *left >= *right;
    case Relation::kMultiple:
      return *right >= 1 && *left % *right == 0;
    case Relation::kPowerOfTwo:
      return *left >= 1 && (*left & (*left - 1)) == 0;
    case Relation::kDefined:
      return true;
  }
  NPU_CHECK(false);
}

SymbolId OpenSizes::add(std::string name, Symbol::Of of, int64_t least, int64_t most) {
  spend(1);
  symbols_.push_back({std::move(name), of, least, most, least, most, std::nullopt, {}});
  users_.emplace_back();
  return static_cast<SymbolId>(symbols_.size() - 1);
}

void OpenSizes::spend(uint64_t steps) {
  steps_ += steps;
  if (steps_ <= kMostSteps) return;
  throw Error(contract::ErrorCode::kBudgetExceeded,
              "the sizes that the file leaves open depend on each other in too many steps");
}

Dim OpenSizes::simplified(Dim dim) const {
  for (const SymbolId id : dim.symbols()) {
    if (symbols_[id].value) dim = dim.substitute(id, *symbols_[id].value);
  }
  return dim;
}

Dims OpenSizes::simplified(Dims dims) const {
  for (Dim& dim : dims) dim = simplified(std::move(dim));
  return dims;
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
    case SizeFunction::kMax:
      return {std::max(a.low, b.low), std::max(a.high, b.high)};
    case SizeFunction::kMin:
      return {std::min(a.low, b.low), std::min(a.high, b.high)};
    case SizeFunction::kMod:
      return {0, std::max<int64_t>(b.high - 1, 0)};
    case SizeFunction::kDivFloor:
    case SizeFunction::kDivCeil:
      if (b.low < 1) break;
      // Rounded up, a quotient is at most one more.
      return {a.low == -kFar ? -kFar : divided_down(a.low, a.low < 0 ? b.low : b.high),
              a.high == kFar ? kFar : divided_down(a.high, a.high < 0 ? b.high : b.low) + 1};
    case SizeFunction::kExp2:
      return {1, kFar};
    case SizeFunction::kLog2Floor:
    case SizeFunction::kLog2Ceil:
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
        whole = whole && (factor.call == nullptr || factor.call->function != SizeFunction::kQuotient);
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
    case Relation::kEqual:
      return judge_equal(left - condition.right);
    case Relation::kMultiple:
      return judge_multiple(left, condition.right);
    case Relation::kAtLeast: {
      const Dim difference = left - condition.right;
      const Interval range = interval(difference);
      if (range.high < 0) return Verdict::kFails;
      return range.low >= 0 && (bounds == Bounds::kDecide || difference.is_number()) ? Verdict::kHolds : Verdict::kOpen;
    }
    case Relation::kPowerOfTwo:
      if (!left.is_number()) return Verdict::kOpen;
      return *left.number() >= 1 && (*left.number() & (*left.number() - 1)) == 0 ? Verdict::kHolds : Verdict::kFails;
    case Relation::kDefined:
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
        case SizeFunction::kMax:
        case SizeFunction::kMin:
          break;
        case SizeFunction::kMod:
        case SizeFunction::kDivFloor:
        case SizeFunction::kDivCeil:
          if (a.low < 0 || b.low < 1) return false;
          break;
        case SizeFunction::kExp2:
          if (a.low < 0 || a.high > 62) return false;
          break;
        case SizeFunction::kLog2Floor:
        case SizeFunction::kLog2Ceil:
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
  if (condition.relation != Relation::kEqual || terms.size() != 1 || terms[0].factors.size() != 1) return std::nullopt;
  const Dim::Call* call = terms[0].factors[0].call.get();
  if (call == nullptr || call->function != SizeFunction::kMod || call->b.number().value_or(0) < 1) return std::nullopt;
  return Condition{Relation::kMultiple, call->a, call->b, condition.place, condition.why};
}

// In the smallest numbers that say the same.
void OpenSizes::reduce(Condition& condition) {
  const auto common_of = [](const Dim& dim, int64_t common) {
    for (const Dim::Term& term : dim.terms()) common = std::gcd(common, term.coefficient);
    return common;
  };
  Dim &left = condition.left, &right = condition.right;
  if (condition.relation == Relation::kEqual && left.denominator() == 1 && right.denominator() == 1) {
    const int64_t common = common_of(left, common_of(right, 0));
    if (common <= 1) return;
    left = left.quotient(common);
    right = right.quotient(common);
  }
  const auto by = right.number();
  if (condition.relation != Relation::kMultiple || !by) return;
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

bool OpenSizes::require(Condition condition) {
  spend(1);
  condition.left = simplified(std::move(condition.left));
  condition.right = simplified(std::move(condition.right));
  if (auto multiple = as_multiple(condition)) condition = *std::move(multiple);
  const Verdict verdict = judge(condition, Bounds::kDecide);
  if (verdict != Verdict::kOpen) return verdict == Verdict::kHolds;
  if (condition.relation == Relation::kEqual) {
    if (auto solution = solve(condition.left - condition.right, condition.place)) {
      return assign(*std::move(solution), condition.place);
    }
  }
  reduce(condition);
  if (!known_.emplace(condition.relation, condition.left, condition.right).second) return true;
  conditions_.push_back(condition);
  return narrow(condition);
}

// A size of a result rather than one of a variable, that rather than one of an input, and a later one rather than an
// earlier one. Those of inputs have a value only where that needs no division: what is left may then be any sizes. Of a
// product of two of the same kind, another equality has to give one first.
std::optional<OpenSizes::Solution> OpenSizes::solve(const Dim& difference, OperatorPlace place) const {
  const Dim sum = difference.numerator();
  const std::set<SymbolId> all = sum.symbols();
  Symbol::Of last = Symbol::Of::kInput;
  for (const SymbolId id : all) last = std::max(last, symbols_[id].of);
  std::vector<SymbolId> followers;
  for (const SymbolId id : all) {
    if (symbols_[id].of == last) followers.push_back(id);
  }
  std::optional<Solution> found;
  for (const SymbolId id : followers) {
    const auto linear = sum.linear_in(id);
    const auto factor = linear ? linear->factor.number() : std::nullopt;
    const bool is_whole = factor && (*factor == 1 || *factor == -1 || all.size() == 1);
    if (is_whole) found = Solution{id, linear->rest.quotient(-*factor), {}};
  }
  if (found || last == Symbol::Of::kInput || followers.size() != 1) return found;
  const SymbolId id = followers.front();
  const auto linear = sum.linear_in(id);
  if (!linear) return std::nullopt;
  const auto positive = [](const Dim& dim) { return dim.terms().front().coefficient < 0 ? dim * -1 : dim; };
  return Solution{id,
                  (linear->rest * -1).quotient(linear->factor),
                  {{Relation::kMultiple, positive(linear->rest), positive(linear->factor), place, ""}}};
}

bool OpenSizes::assign(Solution solution, OperatorPlace place) {
  const SymbolId id = solution.symbol;
  const Dim value = solution.value;
  std::vector<std::pair<SymbolId, Dim>> values;
  for (const SymbolId user : users_[id]) {
    spend(1);
    values.emplace_back(user, symbols_[user].value->substitute(id, value));
  }
  values.emplace_back(id, value);
  users_[id].clear();
  symbols_[id].because = place;
  for (auto& [user, own] : values) {
    for (const SymbolId used : own.symbols()) users_[used].insert(user);
    symbols_[user].value = std::move(own);
  }
  for (Condition& condition : solution.conditions) {
    if (!require(std::move(condition))) return false;
  }
  const int64_t least = symbols_[id].least, most = symbols_[id].most;
  return require({Relation::kAtLeast, value, least, place, ""}) &&
         require({Relation::kAtLeast, most, value, place, ""});
}

std::optional<OpenSizes::Bound> OpenSizes::bound_of(const Condition& condition) const {
  if (condition.relation != Relation::kAtLeast) return std::nullopt;
  const auto affine = (condition.left - condition.right).affine();
  if (!affine || affine->terms.size() != 1) return std::nullopt;
  const auto& [symbol, factor] = affine->terms.front();
  // factor * symbol + constant >= 0
  if (factor > 0) return Bound{symbol, true, divided_up(-affine->constant, factor)};
  return Bound{symbol, false, divided_down(affine->constant, -factor)};
}

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
  if (condition.relation == Relation::kEqual) {
    if (auto solution = solve(condition.left - condition.right, condition.place)) {
      changed = true;
      return assign(*std::move(solution), condition.place) ? Outcome::kDrop : Outcome::kFails;
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
      const Outcome outcome = look_again(condition, changed);
      if (outcome == Outcome::kFails) return before;
      if (outcome == Outcome::kDrop) continue;
      if (known_.emplace(condition.relation, condition.left, condition.right).second)
        kept.push_back(std::move(condition));
    }
    std::move(conditions_.begin(), conditions_.end(), std::back_inserter(kept));
    conditions_ = std::move(kept);
  }
  drop_weaker_bounds();
  return std::nullopt;
}

void OpenSizes::drop_weaker_bounds() {
  std::set<std::pair<SymbolId, bool>> bounded;
  std::erase_if(conditions_, [&](const Condition& condition) {
    const auto bound = bound_of(condition);
    if (!bound) return false;
    const Symbol& symbol = symbols_[bound->symbol];
    // Than another one, or what any size is.
    const bool is_weaker = bound->is_lower ? bound->size < symbol.low || bound->size <= symbol.least
                                           : bound->size > symbol.high || bound->size >= symbol.most;
    return is_weaker || !bounded.emplace(bound->symbol, bound->is_lower).second;
  });
}

Dim::Names OpenSizes::names() const {
  return [this](SymbolId id) { return symbols_[id].name; };
}

std::string OpenSizes::text(const Dim& dim) const { return dim.text(names()); }

std::string OpenSizes::text(const Dims& dims) const { return text_of(dims, names()); }

std::string OpenSizes::text(const Condition& condition) const {
  const std::string why = condition.why.empty() ? "" : " (" + condition.why + ")";
  const std::string left = text(condition.left), right = text(condition.right);
  switch (condition.relation) {
    case Relation::kEqual:
      return left + " must equal " + right + why;
    case Relation::kAtLeast:
      if (const auto bound = bound_of(condition)) {
        return symbols_[bound->symbol].name + " must be at " + (bound->is_lower ? "least " : "most ") +
               std::to_string(bound->size) + why;
      }
      if (condition.left.is_number()) return right + " must be at most " + left + why;
      return left + " must be at least " + right + why;
    case Relation::kMultiple:
      return left + " must be a multiple of " + right + why;
    case Relation::kPowerOfTwo:
      return left + " must be a power of two" + why;
    case Relation::kDefined:
      return left + " must be defined" + why;
  }
  NPU_CHECK(false);
}

}  // namespace npu::graph
