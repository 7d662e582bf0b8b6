// SPDX-License-Identifier: Apache-2.0
// Floating point: formats, constants, casts, and operators that are element-wise or reduce.
#include <iterator>
#include <limits>

#include "driver/graph/float_format.h"
#include "driver/graph/operators.h"
#include "tests/unit/compiler/random_graph_maker.h"

namespace npu::compiler::testing {

using graph::Attributes;
using graph::Op;

namespace {

bool can_cast(graph::DType from, graph::DType to) {
  for (const graph::TypeRow& row : graph::info(Op::kCast).types) {
    if (row.types[static_cast<size_t>(graph::Slot::kIn)] == from &&
        row.types[static_cast<size_t>(graph::Slot::kOut)] == to) {
      return true;
    }
  }
  return false;
}

}  // namespace

bool RandomGraph::is_float(DType type) { return graph::float_format(type).has_value(); }

RandomGraph::DType RandomGraph::any_real() {
  static constexpr DType kTypes[] = {DType::kFp32, DType::kFp16, DType::kBf16};
  return kTypes[pick(0, 2)];
}

RandomGraph::DType RandomGraph::any_float() {
  return chance(75) ? any_real() : chance(50) ? DType::kFp8E4M3 : DType::kFp8E5M2;
}

// Whole numbers, whose sums are exact, and others; seldom what formats end with.
std::vector<double> RandomGraph::reals(int64_t count) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  static constexpr double kCorners[] = {-0.0, 0.0, 1e-40, -6e-8, 65'504, -448, kInfinity};
  const bool corners = chance(10), whole = chance(50);
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i) {
    const bool corner = corners && chance(20);
    const double value = pick(-500, 500);
    values.push_back(corner ? kCorners[pick(0, 6)] : whole ? static_cast<double>(pick(-8, 8)) : value / 64);
  }
  return values;
}

// FP8 and the other format of 16 bits are reached by FP32, and a BOOL by INT8.
RandomGraph::TensorId RandomGraph::cast_to(TensorId id, DType to) {
  if (type(id) == to) return id;
  if (can_cast(type(id), to)) return b_.cast(id, to);
  const bool flags = type(id) == DType::kBool || to == DType::kBool;
  return cast_to(cast_to(id, flags ? DType::kInt8 : DType::kFp32), to);
}

Attributes RandomGraph::any_nan_mode() {
  Attributes how;
  how.nan_mode = chance(50) ? graph::NanMode::kPropagate : graph::NanMode::kIgnore;
  return how;
}

void RandomGraph::grow_float() {
  using Grow = void (RandomGraph::*)();
  static constexpr Grow kGrow[] = {
      &RandomGraph::grow_real_function, &RandomGraph::grow_real_function,
      &RandomGraph::grow_real_function, &RandomGraph::grow_real_reduction,
      &RandomGraph::grow_real_pool,     &RandomGraph::grow_real_convolution,
      &RandomGraph::grow_real_conv3d,   &RandomGraph::grow_real_transpose_conv,
      &RandomGraph::grow_real_matmul,   &RandomGraph::grow_real_resize,
      &RandomGraph::grow_fourier,
  };
  if (chance(50)) return grow_exact_float();
  grow_any(kGrow);
}

// Those whose results are the same however they are computed.
void RandomGraph::grow_exact_float() {
  using Grow = void (RandomGraph::*)();
  static constexpr Grow kGrow[] = {
      &RandomGraph::grow_real_binary, &RandomGraph::grow_real_binary, &RandomGraph::grow_real_choice,
      &RandomGraph::grow_real_unary,  &RandomGraph::grow_real_cast,   &RandomGraph::grow_view,
      &RandomGraph::grow_layout,      &RandomGraph::grow_layout,
  };
  grow_any(kGrow);
}

void RandomGraph::grow_real_binary() {
  static constexpr Op kOps[] = {Op::kAdd,   Op::kSub,     Op::kMaximum,     Op::kMinimum,
                                Op::kEqual, Op::kGreater, Op::kGreaterEqual};
  const DType real = any_real();
  const TensorId like = as_type(any(), real);
  const TensorId a = chance(60) ? like : partner(real, shape(like));
  const TensorId b = chance(5) ? a : partner(real, shape(like));
  const int which = pick(0, 8);
  if (which > 6) return void(add(b_.mul(a, b)));
  const bool compares = kOps[which] == Op::kMaximum || kOps[which] == Op::kMinimum;
  const Attributes how = compares ? any_nan_mode() : Attributes{};
  add(chance(50) ? b_.op(kOps[which], {a, b}, how) : b_.op(kOps[which], {b, a}, how));
}

void RandomGraph::grow_real_choice() {
  const TensorId a = as_type(any(), any_real());
  const TensorId condition = partner(DType::kBool, shape(a));
  add(b_.select(condition, a, partner(type(a), shape(a))));
}

void RandomGraph::grow_real_unary() {
  static constexpr Op kOps[] = {Op::kAbs, Op::kCeil, Op::kFloor};
  if (chance(20)) return void(add(b_.op(Op::kIdentity, {as_type(any(), any_float())})));
  const TensorId a = as_type(any(), any_real());
  const int which = pick(0, 4);
  if (which == 3) return void(add(b_.negate(a)));
  if (which < 3) return void(add(b_.op(kOps[which], {a})));
  Attributes how = any_nan_mode();
  const double low = pick(-100, 100) / 16.0, high = low + pick(0, 200) / 16.0;
  how.min_val = graph::encode(type(a), 1, {low}), how.max_val = graph::encode(type(a), 1, {high});
  add(b_.op(Op::kClamp, {a}, how));
}

void RandomGraph::grow_real_function() {
  static constexpr Op kOps[] = {Op::kCos,  Op::kSin,     Op::kErf,        Op::kExp,   Op::kLog,
                                Op::kTanh, Op::kSigmoid, Op::kReciprocal, Op::kRsqrt, Op::kPow};
  const DType real = any_real();
  TensorId a = as_type(any(), real);
  const Op op = kOps[pick(0, static_cast<int>(std::size(kOps)) - 1)];
  if (op != Op::kPow) return void(add(b_.op(op, {a})));
  a = b_.op(Op::kAbs, {a});  // a negative number has no power
  add(b_.op(op, {a, partner(real, shape(a))}));
}

void RandomGraph::grow_real_cast() {
  const TensorId a = any();
  const DType to = chance(60) ? any_float() : any_type();
  if (type(a) != to) add(as_type(a, to));
}

// Rows beyond what a large VPU has lanes are joined in parts.
void RandomGraph::grow_real_reduction() {
  const TensorId a = as_type(any(), any_float());
  grow_real_reduction(chance(4) ? as_shape(a, {pick(1, 2), pick(500, 1600)}) : a);
}

void RandomGraph::grow_real_reduction(TensorId a) {
  static constexpr Op kOps[] = {Op::kReduceSum, Op::kReduceProduct, Op::kReduceMax, Op::kReduceMin};
  if (rank(a) == 0) return;
  const bool small = type(a) == DType::kFp8E4M3 || type(a) == DType::kFp8E5M2;
  // Sums of blocks would not be the same however they are computed.
  const int which = small ? 4 : pick(depth_ > 0 ? 2 : 0, 4);
  Attributes how = which < 2 ? Attributes{} : any_nan_mode();
  how.axis = pick(0, rank(a) - 1);
  add(b_.op(which == 4 ? Op::kArgMax : kOps[which], {a}, how));
}

}  // namespace npu::compiler::testing
