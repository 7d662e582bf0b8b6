// SPDX-License-Identifier: Apache-2.0
// Prints what the micro-programs of functions of floating point take and how far their results are off, as JSON: for
// tests/system/docs/float_functions.py.
#include <cstdio>
#include <string>

#include "tests/unit/compiler/float_function_sweep.h"

int main() {
  using namespace npu::compiler::testing;  // NOLINT: a program of one function
  const char* separator = "[\n";
  for (const npu::graph::Op op : kFloatFunctions) {
    for (const npu::contract::Element type : kFloatTypes) {
      const FloatProgram program(op, type);
      const FloatErrors errors = sweep(program, op, type, kFloatStep);
      std::printf(
          R"(%s{"operator": "%s", "type": "%s", "compared": %lld, "ulp": %.9g, "share": %.9g, "uops": %zu, "registers": %u})",
          separator, std::string(npu::graph::name(op)).c_str(), float_name(type).c_str(),
          static_cast<long long>(errors.compared), errors.ulp, errors.share, program.uops().size() - program.operands(),
          program.registers());
      separator = ",\n";
    }
  }
  std::printf("\n]\n");
  return 0;
}
