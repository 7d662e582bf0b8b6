// SPDX-License-Identifier: Apache-2.0
// The table of operators against a list of what the specification says, and what follows from an entry in a graph.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "driver/graph/operators.h"

namespace npu::graph {
namespace {

std::string joined(const std::vector<std::string>& parts, const std::string& separator) {
  std::string text;
  for (const std::string& part : parts) {
    text += (text.empty() ? "" : separator) + part;
  }
  return text;
}

// Names the slots a, b, c in the order in which the operands mention them.
class Variables {
 public:
  std::string name_of(Slot slot) {
    auto found = std::find(slots_.begin(), slots_.end(), slot);
    if (found == slots_.end()) {
      found = slots_.insert(slots_.end(), slot);
    }
    return {static_cast<char>('a' + (found - slots_.begin()))};
  }
  [[nodiscard]] const std::vector<Slot>& slots() const { return slots_; }

 private:
  std::vector<Slot> slots_;
};

std::string describe(const Operand& operand, Variables& variables, bool is_input) {
  std::string text(operand.name);
  if (operand.kind == OperandKind::kList) return text + " list";
  if (operand.kind == OperandKind::kShapeList) return text + " SHAPE list";
  if (operand.slot != Slot::kNone) {
    text.append(" ").append(variables.name_of(operand.slot));
  } else {
    text.append(" ").append(operand.fixed == DType::kUnknown ? "any" : name(operand.fixed));
  }
  text.append(" ").append(std::to_string(operand.min_rank));
  if (operand.max_rank != operand.min_rank) {
    text.append("..").append(std::to_string(operand.max_rank));
  }
  return text + (operand.constant && is_input ? " constant" : "");
}

std::string describe(std::span<const Operand> operands, Variables& variables, bool are_inputs) {
  std::vector<std::string> parts;
  for (const Operand& operand : operands) {
    parts.push_back(describe(operand, variables, are_inputs));
  }
  return std::string("(").append(joined(parts, ", ")).append(")");
}

std::string describe_attributes(AttributeSet set) {
  const std::map<AttributeSet, std::vector<std::string>> names = {
      {kHasAxis, {"axis"}},
      {kHasKernel, {"kernel"}},
      {kHasStride, {"stride"}},
      {kHasPad, {"pad"}},
      {kHasDilation, {"dilation"}},
      {kHasOutPad, {"out_pad"}},
      {kHasPerms, {"perms"}},
      {kHasAccType, {"acc_type"}},
      {kHasLocalBound, {"local_bound"}},
      {kHasLimits, {"min_val", "max_val"}},
      {kHasNanMode, {"nan_mode"}},
      {kHasRound, {"round"}},
      {kHasResizeMode, {"mode"}},
      {kHasRescale, {"scale32", "rounding_mode", "per_channel", "input_unsigned", "output_unsigned"}},
      {kHasInverse, {"inverse"}},
      {kHasBranches, {"then_graph", "else_graph"}},
      {kHasLoop, {"cond_graph", "body_graph"}},
      {kHasCustom, {"operator_name", "domain_name", "implementation_attrs"}},
      {kHasAllowBroadcast, {"allow_broadcast"}},
  };
  std::set<std::string> sorted;
  for (const auto& [bit, of] : names) {
    if ((set & bit) != 0) {
      sorted.insert(of.begin(), of.end());
    }
  }
  std::string text;
  for (const std::string& attribute : sorted) {
    text.append(" ").append(attribute);
  }
  return text;
}

std::string describe_features(Features any_of, Features all_of) {
  std::vector<std::string> any;
  std::string text;
  for (uint32_t i = 0; i < kFeatureCount; ++i) {
    if ((any_of & 1u << i) != 0) {
      any.emplace_back(feature_name(1u << i));
    }
    if ((all_of & 1u << i) != 0) {
      text.append("+").append(feature_name(1u << i));
    }
  }
  return joined(any, "|") + text;
}

// An entry as operator_table.txt writes it.
std::vector<std::string> describe(const OperatorInfo& entry) {
  Variables variables;
  const std::string inputs = describe(entry.inputs, variables, true);
  const std::string outputs = describe(entry.outputs, variables, false);
  std::vector<std::string> lines = {std::string(name(entry.op)) + " " + inputs + " -> " + outputs +
                                    describe_attributes(entry.attributes)};
  if (entry.types.empty()) {
    lines.push_back(std::string("  ").append(describe_features(entry.any_of, 0)));
    return lines;
  }
  std::map<std::string, std::set<std::string>> rows;
  for (const TypeRow& row : entry.types) {
    std::vector<std::string> types;
    size_t used = 0;
    for (const Slot slot : variables.slots()) {
      types.emplace_back(name(row.types[static_cast<size_t>(slot)]));
      ++used;
    }
    if ((entry.attributes & kHasAccType) != 0) {
      types.push_back(std::string("acc ").append(name(row.types[static_cast<size_t>(Slot::kAcc)])));
      ++used;
    }
    const auto unknown = std::count(row.types.begin(), row.types.end(), DType::kUnknown);
    EXPECT_EQ(static_cast<size_t>(unknown) + used, row.types.size()) << name(entry.op) << ": a type that nothing has";
    EXPECT_TRUE(rows[describe_features(row.any_of, row.all_of)].insert(joined(types, " ")).second)
        << name(entry.op) << " lists " << joined(types, " ") << " twice";
  }
  for (const auto& [features, types] : rows) {
    lines.push_back(std::string("  ").append(features).append(": ").append(joined({types.begin(), types.end()}, ", ")));
  }
  return lines;
}

TEST(OperatorTable, IsTheSpecifications) {
  std::ifstream file(NPU_OPERATOR_TABLE);
  ASSERT_TRUE(file) << NPU_OPERATOR_TABLE;
  std::map<std::string, std::vector<std::string>> wanted;  // by operator
  std::string line;
  std::string op;
  while (std::getline(file, line)) {
    if (!line.empty() && line.front() != '#') {
      op = line.front() == ' ' ? op : line.substr(0, line.find(' '));
      wanted[op].push_back(line);
    }
  }
  EXPECT_EQ(wanted.size(), kOpCount - 1);
  for (uint32_t i = 1; i < kOpCount; ++i) {
    const OperatorInfo& entry = info(static_cast<Op>(i));
    EXPECT_EQ(describe(entry), wanted[std::string(name(entry.op))]);
  }
}

TEST(OperatorTable, FindsByName) {
  for (uint32_t i = 1; i < kOpCount; ++i) {
    EXPECT_EQ(op_from_name(name(static_cast<Op>(i))), static_cast<Op>(i));
  }
  EXPECT_EQ(op_from_name("NOTHING"), Op::kUnknown);
  EXPECT_EQ(op_from_name(""), Op::kUnknown);
  EXPECT_EQ(op_from_name(name(Op::kUnknown)), Op::kUnknown);
}

TEST(OperatorTable, HasNoEntryForUnknownOperators) {
  EXPECT_DEATH(static_cast<void>(info(Op::kUnknown)), "");
  EXPECT_DEATH(static_cast<void>(info(static_cast<Op>(kOpCount))), "");
  EXPECT_DEATH(static_cast<void>(feature_name(kProInt | kProFp)), "");
  EXPECT_DEATH(static_cast<void>(feature_name(1u << kFeatureCount)), "");
}

}  // namespace
}  // namespace npu::graph
