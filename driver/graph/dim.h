// SPDX-License-Identifier: Apache-2.0
// The size of a dimension: a number, or an expression of the sizes that a file leaves open.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "driver/graph/graph.h"
#include "driver/graph/size_functions.h"

namespace npu::graph {

// Elements of a tensor, at most: element_count() has none above.
inline constexpr int64_t kMostElements = int64_t{1} << 40;

// A size that the file leaves open, by its number in OpenSizes (open_sizes.h).
using SymbolId = uint32_t;

// What an expression has no form for: coefficients beyond 64 bits, or too many terms.
class NotExpressible : public std::runtime_error {
 public:
  explicit NotExpressible(const std::string& why) : std::runtime_error(why) {}
};

// A polynomial of symbols and of calls, over a denominator: (2*x.0*y.1 + 3*max(x.0, 4) - 1) / 2. It has one form: terms
// sorted, coefficients and denominator without a common factor; so two are the same function if they are equal. The
// converse holds but for calls, which are compared by their operands. A division is exact: where it could leave a rest,
// something else says that it must not (open_sizes.h). Immutable and small; copies share.
class Dim {
 public:
  struct Call;
  // A symbol or a call to some power: a term lists it as often.
  struct Factor {
    SymbolId symbol = 0;
    std::shared_ptr<const Call> call;  // null: the symbol
  };
  struct Term {
    std::vector<Factor> factors;  // sorted; none: the constant term, which is the last
    int64_t coefficient = 0;
  };

  Dim() = default;
  Dim(int64_t number) : number_(number) {}  // NOLINT(google-explicit-constructor): a number is a size
  [[nodiscard]] static Dim symbol(SymbolId id);
  [[nodiscard]] static Dim of_factor(const Factor& factor) { return of_terms({{{factor}, 1}}, 1); }
  // Of a function that is no sum or product: a call where it does not fold. Numbers that it is not defined for stay a
  // call, which has no value.
  [[nodiscard]] static Dim call(SizeOperation function, const Dim& a, const Dim& b);

  [[nodiscard]] bool is_number() const { return open_ == nullptr; }
  [[nodiscard]] std::optional<int64_t> number() const { return open_ ? std::nullopt : std::optional(number_); }
  // Numerator and denominator; the terms of a number are none or one.
  [[nodiscard]] std::vector<Term> terms() const;
  [[nodiscard]] int64_t denominator() const { return open_ ? open_->denominator : 1; }
  [[nodiscard]] Dim numerator() const;

  // These throw NotExpressible.
  friend Dim operator+(const Dim& a, const Dim& b);
  friend Dim operator-(const Dim& a, const Dim& b);
  friend Dim operator*(const Dim& a, const Dim& b);
  // Exact: for values that leave a rest, the result has none.
  [[nodiscard]] Dim quotient(const Dim& by) const;
  // Rounded down; `by` is at least 1.
  [[nodiscard]] Dim floor_quotient(int64_t by) const;
  // The same form; values(1) == values(1).
  friend bool operator==(const Dim& a, const Dim& b) { return compare(a, b) == 0; }
  friend bool operator<(const Dim& a, const Dim& b) { return compare(a, b) < 0; }

  [[nodiscard]] std::set<SymbolId> symbols() const;
  [[nodiscard]] bool mentions(SymbolId id) const;
  [[nodiscard]] Dim substitute(SymbolId id, const Dim& value) const;
  // For values of the symbols by their numbers; nullopt where it has none: a rest, an undefined call, more than 64
  // bits.
  [[nodiscard]] std::optional<int64_t> evaluate(std::span<const int64_t> values) const;

  // (sum of coefficient * symbol + constant) / denominator, the form that a table of dimension values can hold.
  struct Affine {
    std::vector<std::pair<SymbolId, int64_t>> terms;
    int64_t constant = 0, denominator = 1;
  };
  [[nodiscard]] std::optional<Affine> affine() const;
  // As factor * symbol + rest, both without the symbol; nullopt where it is in it otherwise, or not at all.
  struct Linear;
  [[nodiscard]] std::optional<Linear> linear_in(SymbolId id) const;

  using Names = std::function<std::string(SymbolId)>;
  [[nodiscard]] std::string text(const Names& names) const;

 private:
  struct Polynomial {
    std::vector<Term> terms;
    int64_t denominator = 1;
    size_t weight = 0;  // terms and factors, those in calls too
  };

  // Any terms, in any order.
  static Dim of_terms(std::vector<Term> terms, int64_t denominator);
  static int compare(const Dim& a, const Dim& b);
  static int compare(const Factor& a, const Factor& b);
  static int compare(const std::vector<Factor>& a, const std::vector<Factor>& b);
  static std::optional<std::vector<Factor>> without(const std::vector<Factor>& all, const std::vector<Factor>& part);
  [[nodiscard]] size_t weight() const { return open_ ? open_->weight : 1; }
  [[nodiscard]] std::optional<Dim> divided(const Dim& by) const;

  int64_t number_ = 0;
  std::shared_ptr<const Polynomial> open_;
};

struct Dim::Call {
  SizeOperation function = SizeOperation::kMax;
  Dim a, b;
};

struct Dim::Linear {
  Dim factor, rest;
};

// Sizes of a tensor, or the value of a shape, outermost first.
using Dims = std::vector<Dim>;

[[nodiscard]] Dims dims_of(const Shape& shape);
// nullopt where one is no number.
[[nodiscard]] std::optional<Shape> numbers_of(const Dims& dims);
[[nodiscard]] Shape shape_of(const Dims& dims);  // all are numbers
[[nodiscard]] Dim product_of(const Dims& dims);  // throws NotExpressible
// "[x.0, 4]"
[[nodiscard]] std::string text_of(const Dims& dims, const Dim::Names& names);

}  // namespace npu::graph
