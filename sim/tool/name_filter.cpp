// SPDX-License-Identifier: Apache-2.0
#include "sim/tool/name_filter.h"

#include <fmt/format.h>

#include <utility>

#include "driver/graph/text.h"
#include "hw/contract/error.h"

namespace npu::tool {

using contract::ErrorCode;

namespace {

// Its parser and matcher recurse by the length of the expression.
constexpr size_t kMostExpression = 1000;

// Breadth first: the usual matcher recurses by the length of the name, to the end of the stack.
constexpr auto kFlags = std::regex::ECMAScript | std::regex_constants::__polynomial;

std::regex compile(const std::string& option, const std::string& expression) {
  if (expression.size() > kMostExpression) {
    throw Error(ErrorCode::kBadOption, fmt::format("{} takes a regular expression of at most {} characters, not {}",
                                                   option, kMostExpression, expression.size()));
  }
  try {
    return std::regex(expression, kFlags);
  } catch (const std::regex_error&) {
    throw Error(ErrorCode::kBadOption, fmt::format("{} {} is not a regular expression (without back-references)",
                                                   option, graph::in_quotes(expression)));
  }
}

}  // namespace

NameFilter::NameFilter(std::string option, const std::string& expression)
    : option_(std::move(option)), expression_(compile(option_, expression)) {}

bool NameFilter::matches(const std::string& name) const {
  try {
    return std::regex_search(name, expression_);
  } catch (const std::regex_error&) {
    throw Error(ErrorCode::kBadOption,
                fmt::format("the regular expression of {} takes too much to search {}; give a simpler one", option_,
                            graph::in_quotes(name)));
  }
}

}  // namespace npu::tool
