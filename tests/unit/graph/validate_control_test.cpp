// SPDX-License-Identifier: Apache-2.0
// Rules of validate(): control flow, custom operators and variables.
#include "tests/unit/graph/validate_cases.h"

namespace npu::graph {
namespace {

using contract::ErrorCode;
using samples::find;
using samples::input;
using samples::output;

const std::vector<Spoilt>& control_cases() {
  static const std::vector<Spoilt> kCases = {
      {"branch_missing", Op::kCondIf, [](Graph& g) { attributes(g, Op::kCondIf).then_graph = "nowhere"; }, kStructure,
       "then_graph names the region 'nowhere'"},
      {"branch_inputs", Op::kCondIf, [](Graph& g) { find(g, Op::kCondIf).inputs.pop_back(); }, kStructure,
       "has 1 inputs, but the operator has 0"},
      {"branch_type", Op::kCondIf, [](Graph& g) { input(g, Op::kCondIf, 1).type = DType::kFp32; }, kType, "FP32"},
      {"branch_shape", Op::kCondIf, [](Graph& g) { input(g, Op::kCondIf, 1).shape = {4}; }, kShape, "INT32[4]"},
      {"branch_outputs", Op::kCondIf, [](Graph& g) { g.regions[2].blocks[0].outputs.clear(); }, kStructure,
       "has 0 outputs"},
      {"condition_type", Op::kCondIf, [](Graph& g) { input(g, Op::kCondIf, 0).type = DType::kInt8; }, kType,
       "must be BOOL"},
      {"condition_size", Op::kCondIf, [](Graph& g) { input(g, Op::kCondIf, 0).shape = {2}; }, kShape, "one element"},
      {"loop_body_missing", Op::kWhileLoop, [](Graph& g) { attributes(g, Op::kWhileLoop).body_graph = ""; }, kStructure,
       "body_graph"},
      {"loop_flag", Op::kWhileLoop, [](Graph& g) { attributes(g, Op::kWhileLoop).cond_graph = "body"; }, kArgument,
       "must give one BOOL"},
      {"loop_result", Op::kWhileLoop, [](Graph& g) { output(g, Op::kWhileLoop, 0).shape = {1}; }, kShape,
       "must have []"},
      {"loop_in_itself", Op::kWhileLoop,
       [](Graph& g) {
         Block& body = g.regions[2].blocks[0];
         body.operators[1] = {Op::kWhileLoop, attributes(g, Op::kWhileLoop), {body.inputs[0]}, body.outputs, {}};
       },
       kStructure, "contains itself"},
      {"block_is_checked", Op::kWhileLoop, [](Graph& g) { g.regions[2].blocks[0].operators.clear(); }, kStructure,
       "of block 'body'"},
      {"variable_as_tensor", Op::kVariableRead, [](Graph& g) { find(g, Op::kVariableRead).op = Op::kIdentity; },
       kStructure, "read it with VARIABLE_READ"},
      {"variable_written_by_other", Op::kVariableWrite,
       [](Graph& g) { find(g, Op::kVariableWrite).op = Op::kIdentity; }, kStructure, "only VARIABLE_WRITE"},
      {"read_of_tensor", Op::kIdentity, [](Graph& g) { find(g, Op::kIdentity).op = Op::kVariableRead; }, kArgument,
       "'x' is not a variable"},
      {"write_of_tensor", Op::kIdentity, [](Graph& g) { find(g, Op::kIdentity).op = Op::kVariableWrite; }, kArgument,
       "is not a variable"},
      {"variable_type", Op::kVariableRead, [](Graph& g) { output(g, Op::kVariableRead, 0).type = DType::kInt16; },
       kType, "must have the same type"},
      {"variable_shape", Op::kVariableRead, [](Graph& g) { output(g, Op::kVariableRead, 0).shape = {3}; }, kShape,
       "must have [1, 3]"},
      {"variable_of_int48", Op::kVariableWrite,
       [](Graph& g) { input(g, Op::kVariableWrite, 0).type = output(g, Op::kVariableWrite, 0).type = DType::kInt48; },
       kType, "INT48"},
      {"variable_initial_value", Op::kVariableRead,
       [](Graph& g) { input(g, Op::kVariableRead, 0).data = input(g, Op::kVariableRead, 0).data.first(2); }, kData,
       "2 bytes"},
      {"variable_twice", Op::kVariableRead,
       [](Graph& g) {
         Tensor other = input(g, Op::kVariableRead, 0);
         other.name = "another";
         g.main().tensors.push_back(other);
       },
       ErrorCode::kVariableRedeclared, "'state'"},
      {"variable_of_two_types", Op::kVariableRead,
       [](Graph& g) {
         Tensor other = input(g, Op::kVariableRead, 0);
         other.name = "another";
         other.type = DType::kInt16;
         other.data = {};
         other.has_data = false;
         g.main().tensors.push_back(other);
       },
       ErrorCode::kVariableMismatch, ", as INT8[1, 3] and as INT16[1, 3]"},
      {"declared_twice", Op::kVariable,
       [](Graph& g) { g.main().operators.push_back(Operator(g.main().operators.front())); },
       ErrorCode::kVariableRedeclared, "declared twice"},
      {"declared_late", Op::kVariableWrite,
       [](Graph& g) {
         g.main().operators.push_back({Op::kVariable, {}, {}, find(g, Op::kVariableWrite).outputs, {}});
       },
       ErrorCode::kVariableUndeclared, "is written before this declaration"},
      {"no_identity", Op::kVariableRead, [](Graph& g) { input(g, Op::kVariableRead, 0).variable_name.clear(); },
       kStructure, "is a variable without an identity"},
      {"declaration_mismatch", Op::kWhileLoop,
       [](Graph& g) {
         Tensor state;
         state.name = "v";
         state.type = DType::kInt8;
         state.shape = {1, 2};
         state.variable = true;
         state.variable_name = state.name;
         g.main().tensors.push_back(state);
         state.shape = {2, 1};
         g.regions[2].blocks[0].tensors.push_back(state);
       },
       ErrorCode::kVariableMismatch, "INT8[1, 2] and as INT8[2, 1]"},
  };
  return kCases;
}

INSTANTIATE_TEST_SUITE_P(Control, Illegal, testing::ValuesIn(control_cases()), case_name);

}  // namespace
}  // namespace npu::graph
