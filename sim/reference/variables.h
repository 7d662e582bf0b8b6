// The rules of persistent variables during one execution of a graph. Source: TOSA 1.0 "Variable Operators".
#pragma once

#include <set>
#include <string>

#include "sim/reference/call.h"
#include "sim/reference/reference.h"

namespace npu::reference {

class Variables {
 public:
  explicit Variables(Context& context) : context_(context) {}

  // Files that have no VARIABLE operator for a variable declare it by its tensor.
  void declare_tensors(const graph::Block& block);

  // A VARIABLE operator. Allocates on first sight and applies the initial value; a later graph must agree in shape and
  // type.
  void declare(const Call& call, const graph::Tensor& tensor);
  // The state of a variable that this execution declared.
  [[nodiscard]] VariableState& find(const Call& call, const graph::Tensor& tensor);

 private:
  void allocate(const graph::Tensor& tensor, const std::string& where);

  Context& context_;
  std::set<std::string> seen_;
};

}  // namespace npu::reference
