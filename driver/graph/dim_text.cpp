// SPDX-License-Identifier: Apache-2.0
// How expressions of sizes are printed.
#include <string>

#include "driver/graph/dim.h"

namespace npu::graph {
namespace {

std::string text_of(const Dim::Call& call, const Dim::Names& names) {
  const std::string a = call.a.text(names), b = call.b.text(names);
  const auto sum = [](const Dim& dim, const std::string& text) {
    return dim.terms().size() > 1 || dim.denominator() != 1 ? "(" + text + ")" : text;
  };
  const std::string division = sum(call.a, a) + " / " + (call.b.is_number() ? b : "(" + b + ")");
  switch (call.function) {
    case SizeOperation::kDivFloor:
      return "floor(" + division + ")";
    case SizeOperation::kDivCeil:
      return "ceil(" + division + ")";
    case SizeOperation::kQuotient:
      return "(" + division + ")";
    case SizeOperation::kMod:
      return "mod(" + a + ", " + b + ")";
    case SizeOperation::kMin:
      return "min(" + a + ", " + b + ")";
    case SizeOperation::kExp2:
      return "exp2(" + a + ")";
    case SizeOperation::kLog2Floor:
      return "floor(log2(" + a + "))";
    case SizeOperation::kLog2Ceil:
      return "ceil(log2(" + a + "))";
    default:
      return "max(" + a + ", " + b + ")";
  }
}

}  // namespace

std::string Dim::text(const Names& names) const {
  if (open_ == nullptr) return std::to_string(number_);
  std::string all;
  for (const Term& term : open_->terms) {
    std::string one;
    for (const Factor& factor : term.factors) {
      if (!one.empty()) one += "*";
      one += factor.call != nullptr ? text_of(*factor.call, names) : names(factor.symbol);
    }
    const bool negative = term.coefficient < 0;
    const std::string size = std::to_string(term.coefficient).substr(negative ? 1 : 0);
    if (one.empty()) {
      one = size;
    } else if (size != "1") {
      one.insert(0, size + "*");
    }
    if (all.empty()) {
      all = (negative ? "-" : "") + one;
    } else {
      all += (negative ? " - " : " + ") + one;
    }
  }
  if (open_->denominator == 1) return all;
  return (open_->terms.size() > 1 ? "(" + all + ")" : all) + " / " + std::to_string(open_->denominator);
}

std::string text_of(const Dims& dims, const Dim::Names& names) {
  std::string text;
  for (const Dim& dim : dims) text += (text.empty() ? "" : ", ") + dim.text(names);
  return "[" + text + "]";
}

}  // namespace npu::graph
