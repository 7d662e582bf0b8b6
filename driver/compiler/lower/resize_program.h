// SPDX-License-Identifier: Apache-2.0
// The micro-program of a step of RESIZE: what the VPU computes for each element of a segment in y times one in x.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "driver/compiler/ir.h"
#include "driver/compiler/lower/ewise_program.h"
#include "driver/compiler/lower/resize_axis.h"
#include "hw/contract/gen/capabilities.h"

namespace npu::compiler {

// What a step does along one axis.
struct ResizeBlend {
  ResizeSegment::Kind kind = ResizeSegment::Kind::kCopy;
  int64_t unit = 1, weight = 0;

  [[nodiscard]] bool changes_nothing() const { return kind == ResizeSegment::Kind::kCopy && unit == 1; }
};

struct ResizeOperand {
  enum class Role : uint8_t {
    kPixel,    // of the operand, `below` and `right` of the first one
    kWeightY,  // constants, one a position of the result, of the first pixel or of the one `below`
    kWeightX,  // the same, or of the one to the `right`
    kResult,
    kTail,  // operand `tail` of the program that follows
  };
  Role role = Role::kPixel;
  bool below = false, right = false;
  size_t tail = 0;
};

// What blends are made in: 32 bits; 48, where 32-bit operands times their weights do not fit into 32; FP32, in which
// weights are fractions.
enum class ResizeSums : uint8_t { kNarrow, kWide, kFloat };

struct ResizeProgram {
  std::vector<ResizeOperand> operands;
  std::vector<contract::Uop> uops;
  uint32_t register_count = 0;

  [[nodiscard]] bool fits(const contract::Capabilities& machine) const;
};

// Blends in x, then in y; integers exactly. `tail`, if any, computes with the result as its stream 0 and stores what it
// makes of it.
[[nodiscard]] ResizeProgram make_resize_program(const ResizeBlend& y, const ResizeBlend& x, ResizeSums sums,
                                                const EwiseProgram* tail);

// Of weights that have an operand of their own.
[[nodiscard]] constexpr contract::Element resize_weight_type(ResizeSums sums) {
  return sums == ResizeSums::kFloat ? contract::Element::kF32 : contract::Element::kI16;
}
// A weight as FP32.
[[nodiscard]] float resize_fraction(int64_t weight, int64_t unit);

// RESCALE, CLAMP and CAST that a RESIZE takes with it, in order: those that alone read the result before them, as far
// as a command of the machine holds them. None of floating point.
[[nodiscard]] std::vector<size_t> resize_followers(const Facts& facts, size_t op,
                                                   const contract::Capabilities& machine);
// The program of these operators, of which the last one's result is stored.
[[nodiscard]] EwiseProgram resize_tail(const Facts& facts, std::span<const size_t> followers);

// Those of a RESIZE: wide where its result may be beyond 32 bits.
[[nodiscard]] ResizeSums resize_sums(const Facts& facts, const graph::Operator& op);

}  // namespace npu::compiler
