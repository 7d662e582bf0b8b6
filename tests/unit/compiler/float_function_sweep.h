// SPDX-License-Identifier: Apache-2.0
// Micro-programs of functions of floating point: run by the VPU's kernels on many operands, and compared with the
// bounds of TOSA 1.0.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "driver/compiler/lower/float_functions.h"

namespace npu::compiler::testing {

inline constexpr contract::Element kFloatTypes[] = {contract::Element::kF32, contract::Element::kF16,
                                                    contract::Element::kBf16};
inline constexpr graph::Op kFloatFunctions[] = {
    graph::Op::kCos,        graph::Op::kErf,   graph::Op::kExp,     graph::Op::kLog, graph::Op::kPow,
    graph::Op::kReciprocal, graph::Op::kRsqrt, graph::Op::kSigmoid, graph::Op::kSin, graph::Op::kTanh};

// How far the FP32 patterns of a quick sweep are apart: odd, so that all bits change from one to the next.
inline constexpr uint32_t kFloatStep = 2053;

// The program of one operator with loads and a store.
class FloatProgram final : public UopSink {
 public:
  // `cast`: with a micro-operation that rounds the result, as behind an operator that others follow.
  FloatProgram(graph::Op op, contract::Element type, bool cast = false);

  uint32_t emit(contract::Uop uop) override;
  uint32_t constant(uint32_t pattern, uint32_t seed) override;

  // Patterns of the type, for each operand as many as results.
  void run(const std::vector<std::span<const uint32_t>>& operands, std::span<uint32_t> results) const;

  [[nodiscard]] const std::vector<contract::Uop>& uops() const { return uops_; }
  [[nodiscard]] uint32_t registers() const { return registers_; }
  [[nodiscard]] size_t operands() const { return inputs_ + 1; }

 private:
  contract::Element type_;
  size_t inputs_;
  std::vector<contract::Uop> uops_;
  uint32_t registers_ = 0, values_ = 0;
  std::map<std::tuple<contract::UopCode, uint32_t, uint32_t, int32_t, int32_t>, uint32_t> known_;
};

// What a sweep over operands found.
struct FloatErrors {
  int64_t compared = 0;
  double share = 0;   // the largest error, of what the specification allows; infinity where a special value is wrong
  double ulp = 0;     // the largest error in units of the last place, see float_function_ulp()
  std::string worst;  // operands, result and reference of `share`
};

// Compares the results of all operands, bit patterns of the type in `x` and, of POW, in `y`.
void compare(const FloatProgram& program, graph::Op op, contract::Element type, std::span<const uint32_t> x,
             std::span<const uint32_t> y, FloatErrors& errors);

// Sweeps over all patterns of 16 bits, or every `step`-th one of 32 and those around powers of two. POW: over a grid of
// pairs, and random ones whose results are numbers.
[[nodiscard]] FloatErrors sweep(const FloatProgram& program, graph::Op op, contract::Element type, uint32_t step);

[[nodiscard]] std::string float_name(contract::Element type);

}  // namespace npu::compiler::testing
