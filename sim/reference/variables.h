// SPDX-License-Identifier: Apache-2.0
// The rules of persistent variables during one outermost execution of a graph: branches and loop bodies belong to it,
// so a variable that the main block declares may be written in a branch, and one that a loop body declares is declared
// twice in the second iteration. (The specification's text would clear what was declared at each branch.)
// Source: TOSA 1.0 "Variable Operators".
#pragma once

#include <set>
#include <string>

#include "sim/reference/call.h"
#include "sim/reference/reference.h"

namespace npu::reference {

class Variables {
 public:
  // Throws budget_exceeded where all variables of the context would have more than `most_bytes`.
  Variables(Context& context, int64_t most_bytes) : context_(context), most_bytes_(most_bytes) {}

  // Files that have no VARIABLE operator for a variable, in any block, declare it by its tensors. A graph whose
  // variables do not fit to those of the context is refused before it changes any.
  void declare_tensors(const graph::Graph& graph);

  // A VARIABLE operator. Allocates on first sight and applies the initial value; a later graph must agree in shape and
  // type.
  void declare(const Call& call, const graph::Tensor& tensor);
  // The state of a variable that a graph of this context declared, for a read.
  [[nodiscard]] const VariableState& find(const Call& call, const graph::Tensor& tensor) const;
  // The same for a write, which this execution itself must have declared.
  [[nodiscard]] VariableState& find_seen(const Call& call, const graph::Tensor& tensor);

 private:
  // Throws variable_mismatch when the context holds the variable in another way.
  void require_fit(const graph::Tensor& tensor, const std::string& where) const;
  void allocate(const graph::Tensor& tensor, const std::string& where);

  Context& context_;
  int64_t most_bytes_;
  std::set<std::string> seen_;
};

}  // namespace npu::reference
