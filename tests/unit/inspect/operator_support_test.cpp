// SPDX-License-Identifier: Apache-2.0
#include "sim/inspect/operator_support.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace npu::inspect {
namespace {

using nlohmann::json;

TEST(OperatorSupport, HasARowForEachCombinationOfTypes) {
  const presets::Preset nano = presets::load_preset("nano");
  const std::vector<OperatorSupport> operators = inspect_operators(nano);
  EXPECT_EQ(operators.size(), graph::kOpCount - 1);  // without the unknown one
  for (const OperatorSupport& one : operators) {
    EXPECT_EQ(one.rows.size(), std::max<size_t>(one.info->types.size(), 1)) << name(one.info->op);
    for (const OperatorRow& row : one.rows) {
      EXPECT_TRUE(row.reference) << name(one.info->op) << " " << row.types;
      EXPECT_NE(row.engine.empty(), row.reason.empty()) << name(one.info->op) << " " << row.types;
    }
  }
  const json document = json::parse(to_json_text(operators, nano.name, inspect_features({nano})));
  EXPECT_EQ(document["machine"], "nano");
  EXPECT_EQ(document["features"][0]["feature"], "PRO-INT");
  EXPECT_EQ(document["operators"].size(), operators.size());
  const std::string text = to_text(operators, nano.name);
  const auto lines = static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
  size_t rows = 1;
  for (const OperatorSupport& one : operators) rows += one.rows.size();
  EXPECT_EQ(lines, rows);
}

}  // namespace
}  // namespace npu::inspect
