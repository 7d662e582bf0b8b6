// SPDX-License-Identifier: Apache-2.0
#include "driver/graph/dim.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>

#include "hw/contract/error.h"

namespace npu::graph {
namespace {

// Terms and factors of an expression. Those of networks have a handful; a file can make them grow without bound.
constexpr size_t kMostWeight = 256;

[[noreturn]] void too_large() { throw NotExpressible("the coefficients of its expression do not fit into 64 bits"); }

int64_t exact_sum(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) too_large();
  return sum;
}

int64_t exact_product(int64_t a, int64_t b) {
  int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) too_large();
  return product;
}

// Never negative: numbers whose magnitude does not fit are refused.
int64_t common_divisor(int64_t a, int64_t b) {
  if (a == std::numeric_limits<int64_t>::min() || b == std::numeric_limits<int64_t>::min()) {
    too_large();
  }
  return std::gcd(a, b);
}

int64_t rounded_down(int64_t a, int64_t b) { return a / b - (a % b != 0 && a < 0 ? 1 : 0); }

int order_of(int64_t a, int64_t b) { return a < b ? -1 : (a > b ? 1 : 0); }

}  // namespace

Dim Dim::symbol(SymbolId id) { return of_terms({{{{id, nullptr}}, 1}}, 1); }

Dim Dim::call(SizeOperation function, const Dim& a, const Dim& b) {
  if (function == SizeOperation::kQuotient && b.is_number() && *b.number() != 0) return a.quotient(b);
  if (a.is_number() && b.is_number()) {
    const SizeResult result = apply(function, *a.number(), *b.number());
    if (result.undefined == nullptr) return result.value;
  }
  const bool either = function == SizeOperation::kMax || function == SizeOperation::kMin;
  if (either && a == b) return a;
  auto made = std::make_shared<Call>(Call{function, a, b});
  if (either && b < a) std::swap(made->a, made->b);
  return of_terms({{{{0, std::move(made)}}, 1}}, 1);
}

std::vector<Dim::Term> Dim::terms() const {
  if (open_ != nullptr) return open_->terms;
  return number_ == 0 ? std::vector<Term>{} : std::vector<Term>{{{}, number_}};
}

Dim Dim::numerator() const { return of_terms(terms(), 1); }

Dim Dim::of_terms(std::vector<Term> terms, int64_t denominator) {
  NPU_CHECK(denominator != 0);
  std::sort(terms.begin(), terms.end(), [](const Term& a, const Term& b) { return compare(a.factors, b.factors) < 0; });
  std::vector<Term> sums;
  for (Term& term : terms) {
    if (!sums.empty() && compare(sums.back().factors, term.factors) == 0) {
      sums.back().coefficient = exact_sum(sums.back().coefficient, term.coefficient);
    } else {
      sums.push_back(std::move(term));
    }
    if (sums.back().coefficient == 0) sums.pop_back();
  }
  if (sums.empty()) return 0;
  int64_t divisor = denominator;
  for (const Term& term : sums) divisor = common_divisor(divisor, term.coefficient);
  if (denominator < 0) divisor = -divisor;
  denominator /= divisor;
  for (Term& term : sums) term.coefficient /= divisor;
  if (denominator == 1 && sums.size() == 1 && sums.front().factors.empty()) return sums.front().coefficient;
  size_t weight = 0;
  for (const Term& term : sums) {
    weight += 1 + term.factors.size();
    for (const Factor& factor : term.factors) {
      if (factor.call != nullptr) weight += factor.call->a.weight() + factor.call->b.weight();
    }
  }
  if (weight > kMostWeight) throw NotExpressible("its expression has too many terms");
  Dim result;
  result.open_ = std::make_shared<const Polynomial>(Polynomial{std::move(sums), denominator, weight});
  return result;
}

int Dim::compare(const Factor& a, const Factor& b) {
  if (a.call == b.call) return a.call != nullptr ? 0 : order_of(a.symbol, b.symbol);
  if (a.call == nullptr || b.call == nullptr) return a.call == nullptr ? -1 : 1;
  if (a.call->function != b.call->function) return a.call->function < b.call->function ? -1 : 1;
  const int first = compare(a.call->a, b.call->a);
  return first != 0 ? first : compare(a.call->b, b.call->b);
}

// By degree, the highest first, then by the factors: an order that products keep, as divided() needs it.
int Dim::compare(const std::vector<Factor>& a, const std::vector<Factor>& b) {
  if (a.size() != b.size()) return a.size() > b.size() ? -1 : 1;
  for (size_t i = 0; i < a.size(); ++i) {
    if (const int result = compare(a[i], b[i]); result != 0) return result;
  }
  return 0;
}

int Dim::compare(const Dim& a, const Dim& b) {
  if (a.open_ == b.open_) return a.open_ != nullptr ? 0 : order_of(a.number_, b.number_);
  if (a.open_ == nullptr || b.open_ == nullptr) return a.open_ == nullptr ? 1 : -1;
  if (a.open_->denominator != b.open_->denominator) return order_of(a.open_->denominator, b.open_->denominator);
  const auto &mine = a.open_->terms, &others = b.open_->terms;
  for (size_t i = 0; i < mine.size() && i < others.size(); ++i) {
    if (const int result = compare(mine[i].factors, others[i].factors); result != 0) return result;
    if (const int result = order_of(mine[i].coefficient, others[i].coefficient); result != 0) return result;
  }
  return order_of(static_cast<int64_t>(mine.size()), static_cast<int64_t>(others.size()));
}

Dim operator+(const Dim& a, const Dim& b) {
  if (a.is_number() && b.is_number()) return exact_sum(a.number_, b.number_);
  const int64_t common = common_divisor(a.denominator(), b.denominator());
  const int64_t scale_a = b.denominator() / common, scale_b = a.denominator() / common;
  std::vector<Dim::Term> sum = a.terms();
  for (Dim::Term& term : sum) term.coefficient = exact_product(term.coefficient, scale_a);
  for (Dim::Term& term : b.terms()) {
    term.coefficient = exact_product(term.coefficient, scale_b);
    sum.push_back(std::move(term));
  }
  return Dim::of_terms(std::move(sum), exact_product(a.denominator(), scale_a));
}

Dim operator-(const Dim& a, const Dim& b) { return a + b * -1; }

Dim operator*(const Dim& a, const Dim& b) {
  if (a.is_number() && b.is_number()) return exact_product(a.number_, b.number_);
  if (a.weight() * b.weight() > kMostWeight * kMostWeight) throw NotExpressible("its expression has too many terms");
  std::vector<Dim::Term> product;
  for (const Dim::Term& mine : a.terms()) {
    for (const Dim::Term& other : b.terms()) {
      Dim::Term term{{}, exact_product(mine.coefficient, other.coefficient)};
      std::merge(mine.factors.begin(), mine.factors.end(), other.factors.begin(), other.factors.end(),
                 std::back_inserter(term.factors),
                 [](const Dim::Factor& x, const Dim::Factor& y) { return Dim::compare(x, y) < 0; });
      product.push_back(std::move(term));
    }
  }
  return Dim::of_terms(std::move(product), exact_product(a.denominator(), b.denominator()));
}

std::optional<std::vector<Dim::Factor>> Dim::without(const std::vector<Factor>& all, const std::vector<Factor>& part) {
  std::vector<Factor> left;
  size_t next = 0;
  for (const Factor& factor : all) {
    if (next < part.size() && compare(factor, part[next]) == 0) {
      ++next;
    } else {
      left.push_back(factor);
    }
  }
  return next == part.size() ? std::optional(std::move(left)) : std::nullopt;
}

// Division of polynomials, by the leading term; nullopt where a rest is left.
std::optional<Dim> Dim::divided(const Dim& by) const {
  const std::vector<Term> divisor = by.terms();
  Dim rest = *this, result = 0;
  while (rest != Dim(0)) {
    const Term first = rest.terms().front();
    auto left = without(first.factors, divisor.front().factors);
    if (!left) return std::nullopt;
    const Dim part = of_terms({{std::move(*left), exact_product(first.coefficient, by.denominator())}},
                              exact_product(rest.denominator(), divisor.front().coefficient));
    result = result + part;
    rest = rest - part * by;
  }
  return result;
}

Dim Dim::quotient(const Dim& by) const {
  if (const auto number = by.number()) {
    NPU_CHECK(*number != 0);
    return of_terms(terms(), exact_product(denominator(), *number));
  }
  if (const auto result = divided(by)) return *result;
  auto made = std::make_shared<Call>(Call{SizeOperation::kQuotient, *this, by});
  return of_terms({{{{0, std::move(made)}}, 1}}, 1);
}

// Of P / N, with the terms that N divides outside; and of the others, N and the coefficients without a common factor.
Dim Dim::floor_quotient(int64_t by) const {
  NPU_CHECK(by >= 1);
  int64_t divisor = exact_product(denominator(), by);
  std::vector<Term> whole, parts;
  int64_t constant = 0, common = divisor;
  for (const Term& term : terms()) {
    const int64_t quotient = rounded_down(term.coefficient, divisor);
    const int64_t rest = term.coefficient - quotient * divisor;
    if (quotient != 0) whole.push_back({term.factors, quotient});
    if (rest == 0) continue;
    if (term.factors.empty()) {
      constant = rest;
      continue;
    }
    common = common_divisor(common, rest);
    parts.push_back({term.factors, rest});
  }
  Dim result = of_terms(std::move(whole), 1);
  if (parts.empty()) return result;
  for (Term& term : parts) term.coefficient /= common;
  const Dim inner = of_terms(std::move(parts), 1) + rounded_down(constant, common);
  divisor /= common;
  if (divisor == 1) return result + inner;
  auto made = std::make_shared<Call>(Call{SizeOperation::kDivFloor, inner, divisor});
  return result + of_terms({{{{0, std::move(made)}}, 1}}, 1);
}

std::set<SymbolId> Dim::symbols() const {
  std::set<SymbolId> found;
  if (open_ == nullptr) return found;
  for (const Term& term : open_->terms) {
    for (const Factor& factor : term.factors) {
      if (factor.call == nullptr) {
        found.insert(factor.symbol);
      } else {
        found.merge(factor.call->a.symbols());
        found.merge(factor.call->b.symbols());
      }
    }
  }
  return found;
}

bool Dim::mentions(SymbolId id) const { return open_ != nullptr && symbols().contains(id); }

Dim Dim::substitute(SymbolId id, const Dim& value) const {
  if (!mentions(id)) return *this;
  Dim sum = 0;
  for (const Term& term : open_->terms) {
    Dim product = term.coefficient;
    for (const Factor& factor : term.factors) {
      if (factor.call != nullptr) {
        const Dim a = factor.call->a.substitute(id, value), b = factor.call->b.substitute(id, value);
        // A floor has one form only.
        const bool floor =
            factor.call->function == SizeOperation::kDivFloor && b.is_number() && *b.number() >= 1 && !a.is_number();
        const bool exact = factor.call->function == SizeOperation::kQuotient && b != Dim(0);
        product = product * (floor   ? a.floor_quotient(*b.number())
                             : exact ? a.quotient(b)
                                     : call(factor.call->function, a, b));
      } else {
        product = product * (factor.symbol == id ? value : symbol(factor.symbol));
      }
    }
    sum = sum + product;
  }
  return sum.quotient(open_->denominator);
}

std::optional<int64_t> Dim::evaluate(std::span<const int64_t> values) const {
  if (open_ == nullptr) return number_;
  int64_t sum = 0;
  for (const Term& term : open_->terms) {
    int64_t product = term.coefficient;
    for (const Factor& factor : term.factors) {
      std::optional<int64_t> value;
      if (factor.call != nullptr) {
        const auto a = factor.call->a.evaluate(values), b = factor.call->b.evaluate(values);
        if (!a || !b) return std::nullopt;
        const SizeResult result = apply(factor.call->function, *a, *b);
        if (result.undefined == nullptr) value = result.value;
      } else {
        NPU_CHECK(factor.symbol < values.size());
        value = values[factor.symbol];
      }
      if (!value || __builtin_mul_overflow(product, *value, &product)) return std::nullopt;
    }
    if (__builtin_add_overflow(sum, product, &sum)) return std::nullopt;
  }
  if (sum % open_->denominator != 0) return std::nullopt;
  return sum / open_->denominator;
}

std::optional<Dim::Affine> Dim::affine() const {
  Affine result;
  result.denominator = denominator();
  for (const Term& term : terms()) {
    if (term.factors.empty()) {
      result.constant = term.coefficient;
    } else if (term.factors.size() == 1 && term.factors[0].call == nullptr) {
      result.terms.emplace_back(term.factors[0].symbol, term.coefficient);
    } else {
      return std::nullopt;
    }
  }
  return result;
}

std::optional<Dim::Linear> Dim::linear_in(SymbolId id) const {
  std::vector<Term> with, rest;
  for (const Term& term : terms()) {
    Term left{{}, term.coefficient};
    size_t times_there = 0;
    for (const Factor& factor : term.factors) {
      if (factor.call != nullptr && (factor.call->a.mentions(id) || factor.call->b.mentions(id))) return std::nullopt;
      if (factor.call == nullptr && factor.symbol == id) {
        ++times_there;
      } else {
        left.factors.push_back(factor);
      }
    }
    if (times_there > 1) return std::nullopt;
    (times_there == 1 ? with : rest).push_back(std::move(left));
  }
  if (with.empty()) return std::nullopt;
  return Linear{of_terms(std::move(with), denominator()), of_terms(std::move(rest), denominator())};
}

Dims dims_of(const Shape& shape) { return {shape.begin(), shape.end()}; }

std::optional<Shape> numbers_of(const Dims& dims) {
  Shape shape;
  for (const Dim& dim : dims) {
    if (!dim.is_number()) return std::nullopt;
    shape.push_back(*dim.number());
  }
  return shape;
}

Shape shape_of(const Dims& dims) {
  auto shape = numbers_of(dims);
  NPU_CHECK(shape.has_value());
  return *std::move(shape);
}

Dim product_of(const Dims& dims) {
  Dim product = 1;
  for (const Dim& dim : dims) product = product * dim;
  return product;
}

}  // namespace npu::graph
