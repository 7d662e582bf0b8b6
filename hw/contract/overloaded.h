// SPDX-License-Identifier: Apache-2.0
// For std::visit: a function for each alternative of a variant. An alternative without one does not compile.
#pragma once

namespace npu {

template <typename... Function>
struct Overloaded : Function... {
  using Function::operator()...;
};
template <typename... Function>
Overloaded(Function...) -> Overloaded<Function...>;

}  // namespace npu
