// SPDX-License-Identifier: Apache-2.0
// A legal graph, and the same graph with one thing changed: what the tests of validate()'s rules have in common.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "driver/graph/operators.h"
#include "hw/contract/error.h"
#include "tests/unit/graph/samples.h"

namespace npu::graph {

// The graph is samples::of(op).
struct Spoilt {
  const char* name;
  Op op;
  std::function<void(Graph&)> change;
  contract::ErrorCode code;
  const char* says;
};

inline void PrintTo(const Spoilt& spoilt, std::ostream* stream) { *stream << spoilt.name; }

inline std::string case_name(const testing::TestParamInfo<Spoilt>& info) { return info.param.name; }

inline Attributes& attributes(Graph& graph, Op op) { return samples::find(graph, op).attributes; }

// Its one test is that validate() refuses the changed graph with the code and a sentence that has the words.
class Illegal : public testing::TestWithParam<Spoilt> {};

inline constexpr contract::ErrorCode kStructure = contract::ErrorCode::kBadStructure;
inline constexpr contract::ErrorCode kArgument = contract::ErrorCode::kBadArgument;
inline constexpr contract::ErrorCode kType = contract::ErrorCode::kBadType;
inline constexpr contract::ErrorCode kShape = contract::ErrorCode::kBadShape;
inline constexpr contract::ErrorCode kData = contract::ErrorCode::kBadData;

}  // namespace npu::graph
