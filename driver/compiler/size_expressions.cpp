// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/size_expressions.h"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "hw/contract/error.h"

namespace npu::compiler {

using contract::SizeOperation;
using graph::Dim;

uint16_t SizeExpressions::number_of(const Dim& dim) {
  if (const auto known = numbers_.find(dim); known != numbers_.end()) return known->second;
  uint16_t number = 0;
  if (dim.is_number()) {
    number = constant(*dim.number());
  } else {
    const std::vector<Dim::Term> terms = dim.terms();
    number = term(terms.front());
    for (size_t i = 1; i < terms.size(); ++i) number = add(SizeOperation::kAdd, number, term(terms[i]));
    if (dim.denominator() != 1) number = add(SizeOperation::kQuotient, number, constant(dim.denominator()));
  }
  numbers_.emplace(dim, number);
  return number;
}

uint16_t SizeExpressions::constant(int64_t value) {
  if (value < std::numeric_limits<int32_t>::min() || value > std::numeric_limits<int32_t>::max()) {
    throw Error(contract::ErrorCode::kArgumentUnsupported,
                "sizes are multiplied by " + std::to_string(value) + ", more than a table of sizes holds");
  }
  const auto [known, fresh] = numbers_.try_emplace(Dim(value));
  if (fresh) known->second = add(SizeOperation::kConstant, 0, static_cast<int32_t>(value));
  return known->second;
}

uint16_t SizeExpressions::factor(const Dim::Factor& factor) {
  if (!factor.call) {
    const auto symbol = std::find(symbols_.begin(), symbols_.end(), factor.symbol);
    NPU_CHECK(symbol != symbols_.end());
    return static_cast<uint16_t>(symbol - symbols_.begin());
  }
  const uint16_t a = number_of(factor.call->a);
  const int32_t b = graph::is_unary(factor.call->function) ? 0 : number_of(factor.call->b);
  return add(factor.call->function, a, b);
}

uint16_t SizeExpressions::term(const Dim::Term& term) {
  if (term.factors.empty()) return constant(term.coefficient);
  uint16_t number = factor(term.factors.front());
  for (size_t i = 1; i < term.factors.size(); ++i) {
    number = add(SizeOperation::kMul, number, factor(term.factors[i]));
  }
  if (term.coefficient == 1) return number;
  return add(SizeOperation::kMul, number, constant(term.coefficient));
}

uint16_t SizeExpressions::add(SizeOperation operation, uint16_t a, int32_t immediate) {
  const auto same = std::find_if(table_.expressions.begin(), table_.expressions.end(), [&](const auto& known) {
    return known.operation == operation && known.a == a && known.immediate == immediate;
  });
  const size_t number = table_.symbols.size() + static_cast<size_t>(same - table_.expressions.begin());
  if (same == table_.expressions.end()) {
    if (number >= contract::kMostSizeValues) {
      throw Error(contract::ErrorCode::kArgumentUnsupported,
                  "the network has more different sizes than the " + std::to_string(contract::kMostSizeValues) +
                      " that a table of sizes holds; leave fewer of them open");
    }
    table_.expressions.push_back({operation, a, immediate});
  }
  return static_cast<uint16_t>(number);
}

}  // namespace npu::compiler
