// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/lower/resize_plan.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "hw/contract/elements.h"
#include "hw/contract/error.h"
#include "hw/timing/vpu_program.h"

namespace npu::compiler {
namespace {

using contract::Element;
using Segments = std::vector<ResizeSegment>;

constexpr double kNever = std::numeric_limits<double>::infinity();
// What a command costs besides its vectors: fill, drain, and its way to the engine.
constexpr double kCommandCycles = 32;
// Covers of many more segments than the smallest one are not looked at.
constexpr size_t kMostTimesSmallest = 4;

class Planner {
 public:
  Planner(const ResizeRequest& request, const contract::Capabilities& machine) : request_(request), machine_(machine) {}

  ResizePlan plan(const ResizeAxis& y, const ResizeAxis& x) {
    const ResizePlan x_first = in_two(alone(y, x, false), alone(y, x, true));
    const ResizePlan y_first = in_two(alone(y, x, true), alone(y, x, false));
    ResizePlan best = x_first.cycles <= y_first.cycles ? x_first : y_first;
    for (ResizePlan& once : at_once(x_first, y_first)) {
      if (once.cycles <= best.cycles) best = std::move(once);
    }
    NPU_CHECK(best.cycles < kNever);
    return best;
  }

 private:
  // A pass along one direction. The first one leaves the other direction as its operand has it, the last one as its
  // result has it.
  struct Alone {
    const ResizeAxis& y;
    const ResizeAxis& x;
    bool along_y;
  };
  static Alone alone(const ResizeAxis& y, const ResizeAxis& x, bool along_y) { return {y, x, along_y}; }

  ResizePass pass_of(const Alone& a, bool last) const {
    ResizePass pass;
    const ResizeAxis& other = a.along_y ? a.x : a.y;
    const ResizeAxis same = unchanged_axis(last ? std::ssize(other.samples) : other.in);
    pass.y.axis = a.along_y ? a.y : same;
    pass.x.axis = a.along_y ? same : a.x;
    pass.type = last ? request_.to : type_between(request_.from, (a.along_y ? a.y : a.x).unit);
    pass.sums = !last && request_.sums == ResizeSums::kWide ? ResizeSums::kNarrow : request_.sums;
    pass.tail = last ? request_.tail : nullptr;
    return pass;
  }

  ResizePlan in_two(const Alone& first, const Alone& second) const {
    ResizePlan plan;
    for (const bool last : {false, true}) {
      const Alone& a = last ? second : first;
      ResizePass pass = pass_of(a, last);
      // One segment covers what stays.
      (a.along_y ? pass.x : pass.y).cover = {whole((a.along_y ? pass.x : pass.y).axis)};
      plan.cycles += choose_cover(pass, a.along_y, last ? plan.passes[0].type : request_.from);
      plan.passes.push_back(std::move(pass));
    }
    return plan;
  }

  std::vector<ResizePlan> at_once(const ResizePlan& x_first, const ResizePlan& y_first) const {
    std::vector<ResizePlan> plans;
    for (const auto& [y, x] : {std::pair(&x_first.passes[1].y, &x_first.passes[0].x),
                               std::pair(&y_first.passes[0].y, &y_first.passes[1].x)}) {
      ResizePass pass{*y, *x, request_.to, request_.sums, request_.tail};
      const double cycles = cost(pass, request_.from);
      plans.push_back({{std::move(pass)}, cycles});
    }
    return plans;
  }

  static ResizeSegment whole(const ResizeAxis& axis) {
    ResizeSegment segment;
    segment.count = std::ssize(axis.samples);
    segment.step = 1;
    return segment;
  }

  // Sets the cover of one direction; returns the cost.
  double choose_cover(ResizePass& pass, bool along_y, Element from) const {
    ResizeDirection& direction = along_y ? pass.y : pass.x;
    const ResizeCovers covers = along_y ? resize_covers(direction.axis) : request_.x_covers;
    size_t smallest = covers[0].size();
    for (const Segments& cover : covers) smallest = std::min(smallest, cover.size());
    double best = kNever;
    Segments chosen;
    for (const Segments& cover : covers) {
      if (cover.size() > smallest * kMostTimesSmallest) continue;
      direction.cover = cover;
      const double cycles = cost(pass, from);
      if (cycles >= best) continue;
      best = cycles;
      chosen = std::move(direction.cover);
    }
    direction.cover = std::move(chosen);
    return best;
  }

  double cost(const ResizePass& pass, Element from) const {
    using Key = std::tuple<ResizeSegment::Kind, int64_t, ResizeSegment::Kind, int64_t>;
    std::map<Key, double> known;
    double cycles = 0;
    for (const ResizeSegment& y : pass.y.cover) {
      for (const ResizeSegment& x : pass.x.cover) {
        const auto [entry, fresh] = known.try_emplace({y.kind, y.weight, x.kind, x.weight}, 0);
        if (fresh) entry->second = passes_of(pass, y, x, from);
        const int64_t elements = request_.dims[0] * y.count * y.repeat * x.count * x.repeat * request_.dims[3];
        const int64_t vectors = (elements + machine_.vpu_lanes - 1) / machine_.vpu_lanes;
        cycles += static_cast<double>(vectors) * entry->second + commands(y, x) * kCommandCycles;
      }
    }
    return cycles;
  }

  // A command has four dimensions: rows that repeat, of pixels that do, take one for each.
  static double commands(const ResizeSegment& y, const ResizeSegment& x) {
    return y.repeat > 1 && x.repeat > 1 ? static_cast<double>(y.count) : 1;
  }

  // Of the VPU for a vector; kNever when no command holds the program.
  double passes_of(const ResizePass& pass, const ResizeSegment& y, const ResizeSegment& x, Element from) const {
    const ResizeProgram program = make_resize_program(pass.y.blend(y), pass.x.blend(x), pass.sums, pass.tail);
    if (!program.fits(machine_)) return kNever;
    std::vector<Element> types;
    for (const ResizeOperand& operand : program.operands) types.push_back(type_of(operand, pass, from));
    return static_cast<double>(timing::program_passes(timing::uop_groups(program.uops, types, machine_)));
  }

  static Element type_of(const ResizeOperand& operand, const ResizePass& pass, Element from) {
    switch (operand.role) {
      case ResizeOperand::Role::kPixel:
        return from;
      case ResizeOperand::Role::kResult:
        return pass.type;
      case ResizeOperand::Role::kWeightY:
      case ResizeOperand::Role::kWeightX:
      case ResizeOperand::Role::kTail:
        return resize_weight_type(pass.sums);
    }
    return Element::kI32;
  }

  const ResizeRequest& request_;
  const contract::Capabilities& machine_;
};

}  // namespace

Element type_between(Element from, int64_t unit) {
  if (contract::is_float(from)) return Element::kF32;
  if (unit == 1) return from;
  // -2^7 times 2^8 fits.
  return from == Element::kI8 && unit <= 256 ? Element::kI16 : Element::kI32;
}

ResizePlan plan_resize(const ResizeAxis& y, const ResizeAxis& x, const ResizeRequest& request,
                       const contract::Capabilities& machine) {
  return Planner(request, machine).plan(y, x);
}

}  // namespace npu::compiler
