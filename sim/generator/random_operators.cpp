// SPDX-License-Identifier: Apache-2.0
#include "sim/generator/random_operators.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <span>
#include <string>

#include "sim/generator/random_control.h"
#include "sim/generator/random_convolutions.h"
#include "sim/generator/random_instance.h"
#include "sim/generator/random_resize.h"
#include "sim/generator/random_rows.h"
#include "sim/generator/random_windows.h"

namespace npu::generator {
namespace {

using Instance = RandomInstance;
using graph::DType;
using graph::Op;
using graph::Rescaling;
using graph::Shape;
using graph::Slot;
using graph::TensorId;

int64_t bits_of(DType type) { return type == DType::kInt8 ? 8 : type == DType::kInt16 ? 16 : 32; }

// What only rearranges elements, read by something that computes or not.
void give_view(const Instance& i, TensorId view) {
  if (i.random().chance(50)) return i.give(view);
  switch (i.b().tensor(view).type) {
    case DType::kBool:
      return i.give(i.b().op(Op::kLogicalNot, {view}));
    case DType::kInt8:
    case DType::kInt16:
      return i.give(i.b().clamp(view, -100, 90));
    case DType::kInt32:
      return i.give(i.b().op(Op::kBitwiseNot, {view}));
    default:
      return i.give(view);
  }
}

void matmul(const Instance& i) {
  const int64_t n = pick(i, 1, 3), h = i.net.size(12), c = i.net.size(30), w = i.net.size(20);
  const TensorId a = i.net.input(i.in(), {n, h, c});
  const bool transposed = i.random().chance(30);
  TensorId b = i.net.input(i.in(), transposed ? Shape{n, w, c} : Shape{n, c, w});
  if (transposed) b = i.b().transpose(b, {0, 2, 1});
  give_sums(i, i.b().matmul(a, b, zero_point(i, i.in()), zero_point(i, i.in()), i.type(Slot::kOut)));
}

void pool(const Instance& i) {
  const Windows w = random_windows(i.random(), true);
  const TensorId x = i.net.input(i.in(), random_image(i, w));
  if (i.op == Op::kMaxPool2d) return i.give(i.b().max_pool2d(x, w.kernel, w.stride, w.pad));
  i.give(i.b().avg_pool2d(x, w.kernel, w.stride, w.pad, zero_point(i, i.in()), zero_point(i, i.in())));
}

void argmax(const Instance& i) {
  const TensorId x = i.any(1);
  i.give(i.b().argmax(x, i.net.axis(i.b().tensor(x).shape)));
}

void reduction(const Instance& i) {
  const Shape shape = i.net.shape(1);
  const DataRange range = i.op == Op::kReduceSum ? DataRange{-(1 << 24), 1 << 24} : usual_range(i.in());
  i.give(i.b().reduce(i.op, i.net.input(i.in(), shape, range), i.net.axis(shape)));
}

// Two operands of which one may broadcast, or each in dimensions of its own; the second has a range of its own, and may
// be a constant.
struct Pair {
  TensorId a, b;
};
Pair pair_of(const Instance& i, DataRange first, DataRange second) {
  Shape left = i.net.shape(0), right = left;
  const bool both = i.random().chance(30), to_left = i.random().chance(50);
  for (size_t d = 0; d < left.size(); ++d) {
    if (!i.random().chance(30)) continue;
    ((both ? i.random().chance(50) : to_left) ? left : right)[d] = 1;
  }
  const TensorId a = i.net.input(i.in(), left, first);
  return {a, i.random().chance(20) ? i.net.constant(i.in(), right, second) : i.net.input(i.in(), right, second)};
}

void binary(const Instance& i) {
  const auto [a, b] = pair_of(i, usual_range(i.in()), usual_range(i.in()));
  i.give(i.b().op(i.op, {a, i.random().chance(5) ? a : b}));
}

void shift(const Instance& i) {
  const bool round = i.op == Op::kArithmeticRightShift && i.random().chance(50);
  const auto [a, b] = pair_of(i, usual_range(i.in()), {round ? 1 : 0, bits_of(i.in()) - 1});
  if (i.op == Op::kArithmeticRightShift) return i.give(i.b().arithmetic_right_shift(a, b, round));
  i.give(i.b().op(i.op, {a, b}));
}

// Products fit: of INT8 and INT16 all do, of INT32 those that are shifted, or of small numbers.
void mul(const Instance& i) {
  const bool shifted = i.in() == DType::kInt32 && i.random().chance(50);
  const DataRange small = {-30'000, 30'000};
  const DataRange range = i.in() == DType::kInt32 && !shifted ? small : usual_range(i.in());
  const auto [a, b] = pair_of(i, range, range);
  i.give(i.b().mul(a, b, shifted ? pick(i, 26, 40) : 0));
}

void intdiv(const Instance& i) {
  const auto [a, b] =
      pair_of(i, usual_range(i.in()), i.random().chance(50) ? DataRange{1, 3'000} : DataRange{-3'000, -1});
  i.give(i.b().op(i.op, {a, b}));
}

void unary(const Instance& i) { i.give(i.b().op(i.op, {i.any(0)})); }

void negate(const Instance& i) {
  DataRange range = usual_range(i.in());
  if (i.in() != DType::kInt8) ++range.low;  // has no opposite
  const TensorId x = i.net.input(i.in(), i.net.shape(0), range);
  i.give(i.b().negate(x, zero_point(i, i.in()), zero_point(i, i.in())));
}

void clamp(const Instance& i) {
  const int32_t low = pick(i, -120, 100);
  i.give(i.b().clamp(i.any(0), low, pick(i, low, 120)));
}

// Neighbours in an INT16 table may differ by as much as INT16 holds.
void table(const Instance& i) {
  const bool bytes = i.in() == DType::kInt8;
  i.give(i.b().table(i.any(0), bytes ? random_numbers(i.random(), 256, INT8_MIN, INT8_MAX)
                                     : random_numbers(i.random(), 513, -16'000, 16'000)));
}

void select(const Instance& i) {
  const Shape shape = i.net.shape(0);
  const bool whole = i.random().chance(50);  // the condition, else the second operand
  const TensorId condition = i.net.input(DType::kBool, whole ? shape : i.net.narrower(shape));
  const TensorId yes = i.net.input(i.in(), whole ? i.net.narrower(shape) : shape);
  i.give(i.b().select(condition, yes, i.net.input(i.in(), i.net.narrower(shape))));
}

void rescale(const Instance& i) {
  const DType from = i.in(), to = i.type(Slot::kOut);
  const TensorId x = i.any(0);
  const Shape shape = i.b().tensor(x).shape;
  const bool per_channel = !shape.empty() && i.random().chance(50);
  const int64_t places = from == DType::kInt48 ? 12 : from == DType::kInt32 ? pick(i, 0, 20) : pick(i, -6, 4);
  Rescaling how = rescaling(i, from, places, per_channel ? shape.back() : 1);
  how.per_channel = per_channel;
  const bool wide = from == DType::kInt32 || from == DType::kInt48 || to == DType::kInt32;
  how.input_unsigned = !wide && i.random().chance(20);
  how.output_unsigned = !wide && !how.input_unsigned && i.random().chance(20);
  how.input_zp = zero_point(i, from);
  how.output_zp = zero_point(i, to);
  i.give(i.b().rescale(x, to, how));
}

void cast(const Instance& i) { i.give(i.b().cast(i.any(0), i.type(Slot::kOut))); }

void concat(const Instance& i) {
  Shape shape = i.net.shape(1);
  const int32_t axis = i.net.axis(shape);
  std::vector<TensorId> parts;
  for (int64_t count = pick(i, 1, 3); count > 0; --count) {
    shape[static_cast<size_t>(axis)] = i.net.size(6);
    const bool again = !parts.empty() && i.random().chance(20);
    parts.push_back(again ? parts.back() : i.net.input(i.in(), shape));
  }
  give_view(i, i.b().concat(parts, axis));
}

void pad(const Instance& i) {
  const TensorId x = i.any(1);
  std::vector<int64_t> padding(2 * i.b().tensor(x).shape.size());
  const bool nothing = i.random().chance(10);
  for (int64_t& amount : padding) amount = nothing ? 0 : pick(i, 0, 2);
  give_view(i, i.b().pad(x, padding, i.in() == DType::kBool ? 1 : pick(i, -9, 9)));
}

void reshape(const Instance& i) {
  const TensorId x = i.any(0);
  Shape shape = i.b().tensor(x).shape;
  if (elements_of(shape) == 1 && i.random().chance(50)) return give_view(i, i.b().reshape(x, {}));
  if (i.random().chance(50)) shape = {elements_of(shape)};
  if (shape.size() < 4 && i.random().chance(70))
    shape.insert(shape.begin() + pick(i, 0, static_cast<int64_t>(shape.size())), 1);
  give_view(i, i.b().reshape(x, shape));
}

void reverse(const Instance& i) {
  const TensorId x = i.any(1);
  give_view(i, i.b().reverse(x, i.net.axis(i.b().tensor(x).shape)));
}

void slice(const Instance& i) {
  const TensorId x = i.any(1);
  std::vector<int64_t> size = i.b().tensor(x).shape, start(size.size());
  const bool one = i.random().chance(15), whole = i.random().chance(10);
  for (size_t d = 0; d < size.size() && !whole; ++d) {
    start[d] = pick(i, 0, size[d] - 1);
    size[d] = one ? 1 : pick(i, 1, size[d] - start[d]);
  }
  give_view(i, i.b().slice(x, start, size));
}

void tile(const Instance& i) {
  const TensorId x = i.any(1);
  const Shape shape = i.b().tensor(x).shape;
  std::vector<int64_t> multiples(shape.size(), 1);
  for (int64_t& multiple : multiples) multiple = i.random().chance(50) ? pick(i, 1, 3) : 1;
  give_view(i, i.b().tile(x, multiples));
}

void transpose(const Instance& i) {
  const TensorId x = i.any(1);
  std::vector<int32_t> perms(i.b().tensor(x).shape.size());
  std::iota(perms.begin(), perms.end(), 0);
  i.random().shuffle(std::span(perms));
  give_view(i, i.b().transpose(x, perms));
}

void gather(const Instance& i) { give_view(i, random_gather(i.net, i.in())); }
void scatter(const Instance& i) { give_view(i, random_scatter(i.net, i.in())); }

void resize(const Instance& i) {
  const ResizeScale r = random_resize(i.random());
  const TensorId x = i.net.input(i.in(), {pick(i, 1, 3), r.size[0], r.size[1], i.net.size(24)});
  const DType out = i.type(Slot::kOut);
  const auto mode = out == i.in() ? graph::ResizeMode::kNearest : graph::ResizeMode::kBilinear;
  const TensorId result = i.b().resize(x, mode, r.scale, r.offset, r.border, out);
  out == i.in() ? give_view(i, result) : give_sums(i, result);
}

void identity(const Instance& i) { give_view(i, i.b().op(Op::kIdentity, {i.any(0)})); }

void constant(const Instance& i) { i.give(i.net.constant(i.in(), i.net.shape(0), usual_range(i.in()))); }

// The three operators need each other: what was there is mixed with an input and written back. Persistent memory is
// small.
void variable(const Instance& i) {
  const Shape shape = {pick(i, 1, 3), pick(i, 1, 12)};
  const std::string name = fmt::format("state{}", i.net.ranges().size());
  const TensorId state = i.b().variable(name, i.in(), shape, std::vector<double>{1});
  i.b().declare(state);
  const Op mix = i.in() == DType::kBool ? Op::kLogicalXor : Op::kBitwiseXor;
  const TensorId mixed = i.b().op(mix, {i.b().read(state), i.net.input(i.in(), shape)});
  i.b().write(state, mixed);
  i.give(mixed);
}

void cond_if(const Instance& i) {
  for (const TensorId id : random_cond_if(i.net)) i.give(id);
}
void while_loop(const Instance& i) {
  for (const TensorId id : random_while_loop(i.net)) i.give(id);
}

struct Maker {
  Op op;
  void (*make)(const Instance&);
};
constexpr Maker kMakers[] = {
    {Op::kArgMax, argmax},
    {Op::kAvgPool2d, pool},
    {Op::kConv2d, random_conv2d},
    {Op::kConv3d, random_conv3d},
    {Op::kDepthwiseConv2d, random_depthwise_conv2d},
    {Op::kMatMul, matmul},
    {Op::kMaxPool2d, pool},
    {Op::kTransposeConv2d, random_transpose_conv2d},
    {Op::kClamp, clamp},
    {Op::kAdd, binary},
    {Op::kArithmeticRightShift, shift},
    {Op::kBitwiseAnd, binary},
    {Op::kBitwiseOr, binary},
    {Op::kBitwiseXor, binary},
    {Op::kIntDiv, intdiv},
    {Op::kLogicalAnd, binary},
    {Op::kLogicalLeftShift, shift},
    {Op::kLogicalRightShift, shift},
    {Op::kLogicalOr, binary},
    {Op::kLogicalXor, binary},
    {Op::kMaximum, binary},
    {Op::kMinimum, binary},
    {Op::kMul, mul},
    {Op::kSub, binary},
    {Op::kTable, table},
    {Op::kAbs, unary},
    {Op::kBitwiseNot, unary},
    {Op::kClz, unary},
    {Op::kLogicalNot, unary},
    {Op::kNegate, negate},
    {Op::kSelect, select},
    {Op::kEqual, binary},
    {Op::kGreater, binary},
    {Op::kGreaterEqual, binary},
    {Op::kReduceAll, reduction},
    {Op::kReduceAny, reduction},
    {Op::kReduceMax, reduction},
    {Op::kReduceMin, reduction},
    {Op::kReduceSum, reduction},
    {Op::kConcat, concat},
    {Op::kPad, pad},
    {Op::kReshape, reshape},
    {Op::kReverse, reverse},
    {Op::kSlice, slice},
    {Op::kTile, tile},
    {Op::kTranspose, transpose},
    {Op::kGather, gather},
    {Op::kScatter, scatter},
    {Op::kResize, resize},
    {Op::kCast, cast},
    {Op::kRescale, rescale},
    {Op::kConst, constant},
    {Op::kConstShape, reshape},
    {Op::kIdentity, identity},
    {Op::kCondIf, cond_if},
    {Op::kWhileLoop, while_loop},
    {Op::kVariable, variable},
    {Op::kVariableWrite, variable},
    {Op::kVariableRead, variable},
};

// CONST_SHAPE has no types of its own.
constexpr graph::TypeRow kAnyTypes = {{DType::kInt8}, 0, 0};

}  // namespace

bool add_random_operator(RandomNetwork& network, Op op, const graph::TypeRow* row) {
  const Maker* maker = std::find_if(std::begin(kMakers), std::end(kMakers), [&](const Maker& m) { return m.op == op; });
  if (maker == std::end(kMakers)) return false;
  maker->make({network, op, row != nullptr ? *row : kAnyTypes});
  return true;
}

}  // namespace npu::generator
