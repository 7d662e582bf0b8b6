// SPDX-License-Identifier: Apache-2.0
#include "driver/graph/open_sizes.h"

#include <algorithm>
#include <utility>

#include "hw/contract/error.h"

namespace npu::graph {
namespace {

// Looks at conditions and symbols. Networks need some thousands.
constexpr uint64_t kMostSteps = uint64_t{1} << 22;

}  // namespace

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
  try {
    for (const SymbolId id : dim.symbols()) {
      if (symbols_[id].value) dim = dim.substitute(id, *symbols_[id].value);
    }
  } catch (const NotExpressible&) {
    // With the symbol itself it is as good.
  }
  return dim;
}

Dims OpenSizes::simplified(Dims dims) const {
  for (Dim& dim : dims) dim = simplified(std::move(dim));
  return dims;
}

bool OpenSizes::require(Condition condition) {
  spend(1);
  try {
    return take(condition);
  } catch (const NotExpressible&) {
    conditions_.push_back(std::move(condition));  // as it is
    return true;
  }
}

bool OpenSizes::take(Condition condition) {
  condition.left = simplified(std::move(condition.left));
  condition.right = simplified(std::move(condition.right));
  if (auto multiple = as_multiple(condition)) condition = *std::move(multiple);
  const Verdict verdict = judge(condition, Bounds::kDecide);
  if (verdict != Verdict::kOpen) return verdict == Verdict::kHolds;
  if (condition.relation == SizeRelation::kEqual) {
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
    // One that has a value stands here where that value has no expression in it.
    if (symbols_[id].of == last && !symbols_[id].value) followers.push_back(id);
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
                  {{SizeRelation::kMultiple, positive(linear->rest), positive(linear->factor), place, ""}}};
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
  return require({SizeRelation::kAtLeast, value, least, place, ""}) &&
         require({SizeRelation::kAtLeast, most, value, place, ""});
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
    case SizeRelation::kEqual:
      return left + " must equal " + right + why;
    case SizeRelation::kAtLeast:
      if (const auto bound = bound_of(condition)) {
        return symbols_[bound->symbol].name + " must be at " + (bound->is_lower ? "least " : "most ") +
               std::to_string(bound->size) + why;
      }
      if (condition.left.is_number()) return right + " must be at most " + left + why;
      return left + " must be at least " + right + why;
    case SizeRelation::kMultiple:
      return left + " must be a multiple of " + right + why;
    case SizeRelation::kPowerOfTwo:
      return left + " must be a power of two" + why;
    case SizeRelation::kDefined:
      return left + " must be defined" + why;
  }
  NPU_CHECK(false);
}

}  // namespace npu::graph
