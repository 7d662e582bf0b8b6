// SPDX-License-Identifier: Apache-2.0
// FFT2D and RFFT2D: products with the matrices of the transform, first along the columns, then along the rows. That
// takes more products than a fast transform, but the MXU makes them, and all that moves is the images.
//
// With c and s the cosines and sines of the angles, a direction turns (re, im) into (re c + im s, im c - re s). Along
// the columns both parts of an image lie under each other, [2 H, W], and are the second operand of a matrix product:
//
//   | c   s |   | re |
//   | -s  c | * | im |      without im the right half of the matrix is missing
//
// Along the rows they are two rows of pixels with W channels, and the window of a convolution is one pixel of each.
//
// A long column is transformed as a matrix of its own, as a fast transform does once: position j k2 + i in row j; first
// along its columns, then each element is turned by an angle, then along its rows. Long rows become columns before.
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "driver/compiler/lower/emitter.h"
#include "driver/compiler/lower/ewise_step.h"
#include "driver/compiler/lower/families.h"

namespace npu::compiler {
namespace {

using contract::Element;
using contract::MxuMode;
using contract::UopCode;
using graph::Op;

// Of a transform by one matrix; longer ones, up to its square, are powers of two, as the operator has it.
constexpr int64_t kMostAtOnce = 256;

enum class Part : uint8_t { kReal, kImaginary };
constexpr std::array kParts = {Part::kReal, Part::kImaginary};

std::optional<Refusal> check_fourier(const Facts& facts, const graph::Operator& op) {
  if (auto refusal = refuse_vpu_type(facts, op)) return refusal;
  const graph::Shape& shape = facts.tensor(op.inputs[0]).shape;
  for (const size_t side : {1, 2}) {
    if (auto refusal = refuse_above("side", shape[side], kMostAtOnce * kMostAtOnce)) return refusal;
  }
  return refuse_mxu_type(facts, op);
}

bool accepts_fourier(const graph::Operator&, size_t, const View& view) { return inner_dense(view); }

// Cosine of step / steps of a turn, exact at its quarters: what cancels in the transform has to be 0.
double cosine(int64_t step, int64_t steps) {
  if (4 * step % steps == 0) {
    constexpr std::array<double, 4> kQuarters = {1, 0, -1, 0};
    return kQuarters.at(static_cast<size_t>(4 * step / steps % 4));
  }
  return std::cos(2 * std::numbers::pi * static_cast<double>(step % steps) / static_cast<double>(steps));
}
double sine(int64_t step, int64_t steps) { return cosine(4 * step + 3 * steps, 4 * steps); }

void append(std::vector<uint8_t>& bytes, double value) {
  const auto bits = std::bit_cast<uint32_t>(static_cast<float>(value));
  for (int shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<uint8_t>(bits >> shift));
}

MxuStep plain_step(MxuMode mode, int64_t channels) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  MxuStep step{};
  step.mode = mode;
  step.rescale = contract::Rescale::kFloating;
  step.params.header.clamp_min = std::bit_cast<int32_t>(-kInfinity);
  step.params.header.clamp_max = std::bit_cast<int32_t>(kInfinity);
  step.params.entries.resize(static_cast<size_t>(channels));
  return step;
}

View permuted(const View& view, std::initializer_list<int32_t> perms) {
  return permute(view, std::vector<int32_t>(perms));
}

class Transform {
 public:
  Transform(Emitter& emitter, const graph::Operator& op)
      : emitter_(emitter), op_(op), direction_(op.attributes.inverse ? -1.0 : 1.0) {}

  void run() {
    const View columns = transformed(operand());
    if (columns.dims[3] <= kMostAtOnce) {
      for (const Part part : kParts) add_rows(columns, part);
      return;
    }
    const View rows = transformed(copied(permuted(columns, {0, 1, 3, 2})));
    for (const Part part : kParts) {
      const View to = result(part, emitter_.facts().result(op_).shape);
      const View from = permuted(part_of(rows, part), {0, 2, 1});
      emitter_.add_copy(slice(from, {0, 0, 0}, to.dims), to);
    }
  }

 private:
  // Images of one part, or of both: [N, parts, H, W].
  View operand() {
    if (op_.op == Op::kRfft2d) {
      const View real = emitter_.read_operand(op_, 0);
      return *reshape(real, {real.dims[0], 1, real.dims[1], real.dims[2]});
    }
    const graph::Shape& shape = emitter_.facts().tensor(op_.inputs[0]).shape;
    const View both = emitter_.intermediate("parts", Element::kF32, {shape[0], 2, shape[1], shape[2]});
    for (const Part part : kParts) {
      emitter_.add_copy(emitter_.read(op_.inputs[static_cast<size_t>(part)]), part_of(both, part));
    }
    return both;
  }

  static View part_of(const View& both, Part part) {
    View view = every(both, 1, static_cast<int64_t>(part), 1, 1);
    view.dims.erase(view.dims.begin() + 1);
    view.strides.erase(view.strides.begin() + 1);
    return view;
  }

  View result(Part part, const Dims& as) { return emitter_.place(op_.outputs[static_cast<size_t>(part)], as, true); }

  View copied(const View& view) {
    const View dense = emitter_.intermediate("turned", view.type, view.dims);
    emitter_.add_copy(view, dense);
    return dense;
  }

  // What the part `of` gets from the part `from` of a position that is `step` of `steps` of a turn away.
  [[nodiscard]] double factor(Part of, Part from, int64_t step, int64_t steps) const {
    if (of == from) return cosine(step, steps);
    return (of == Part::kReal ? direction_ : -direction_) * sine(step, steps);
  }

  // Dense images along their columns: both parts, [N, 2, H, W].
  View transformed(const View& images) {
    const int64_t rows = images.dims[2];
    return rows <= kMostAtOnce ? product_of(images) : in_two(images);
  }

  View product_of(const View& images) {
    const int64_t count = images.dims[0], parts = images.dims[1], rows = images.dims[2], width = images.dims[3];
    std::vector<uint8_t> bytes;
    for (const Part of : kParts) {
      for (int64_t to = 0; to < rows; ++to) {
        for (int64_t part = 0; part < parts; ++part) {
          for (int64_t from = 0; from < rows; ++from) {
            append(bytes, factor(of, static_cast<Part>(part), to * from, rows));
          }
        }
      }
    }
    const View result = emitter_.intermediate("columns", Element::kF32, {count, 1, 2 * rows, width});
    MxuStep step = plain_step(MxuMode::kMatmul, width);
    step.src = emitter_.constant(std::move(bytes), Element::kF32, {1, 1, 2 * rows, parts * rows});
    step.src.dims[0] = count;
    step.src.strides[0] = 0;
    step.weights = *reshape(images, {count, parts * rows, width});
    step.dst = result;
    emitter_.add(std::move(step));
    return *reshape(result, {count, 2, rows, width});
  }

  // Columns of high * low positions: of position p the row is p / low.
  View in_two(const View& images) {
    const int64_t count = images.dims[0], rows = images.dims[2], width = images.dims[3];
    int64_t low = 1;
    while (low * low < rows) low *= 2;
    const int64_t high = rows / low;
    const View first = product_of(*reshape(images, {count, images.dims[1], high, low * width}));
    const View turned = emitter_.intermediate("turned", Element::kF32, {count, high, 2, low, width});
    turn(*reshape(first, {count, 2, high, low, width}), permuted(turned, {0, 2, 1, 3, 4}));
    const View second = product_of(*reshape(turned, {count * high, 2, low, width}));
    const View in_order = permuted(*reshape(second, {count, high, 2, low, width}), {0, 2, 3, 1, 4});
    return *reshape(copied(in_order), {count, 2, rows, width});
  }

  // Turns element [i, j] of each matrix by i * j of as many steps as it has elements: [N, 2, high, low, W].
  void turn(const View& from, const View& to) {
    const int64_t high = from.dims[2], low = from.dims[3];
    std::vector<uint8_t> cosines, sines;
    for (int64_t i = 0; i < high; ++i) {
      for (int64_t j = 0; j < low; ++j) {
        append(cosines, cosine(i * j, high * low));
        append(sines, direction_ * sine(i * j, high * low));
      }
    }
    constexpr auto kFormat = static_cast<int32_t>(Element::kF32);
    enum Register : uint32_t { kRe, kIm, kCosine, kSine, kSum, kNegative, kRegisters };
    EwiseStep step;
    step.dims = part_of(from, Part::kReal).dims;
    const auto factors = [&](std::vector<uint8_t> bytes) {
      View view = emitter_.constant(std::move(bytes), Element::kF32, {1, high, low, 1});
      return broadcast(view, step.dims);
    };
    step.operands = {{part_of(from, Part::kReal)},
                     {part_of(from, Part::kImaginary)},
                     {factors(std::move(cosines))},
                     {factors(std::move(sines))},
                     {part_of(to, Part::kReal), false, true},
                     {part_of(to, Part::kImaginary), false, true}};
    step.uops = {{UopCode::kLoad, kRe, 0, 0, 0, 0},
                 {UopCode::kLoad, kIm, 1, 0, 0, 0},
                 {UopCode::kLoad, kCosine, 2, 0, 0, 0},
                 {UopCode::kLoad, kSine, 3, 0, 0, 0},
                 {UopCode::kFmul, kSum, kRe, kCosine, kFormat, 0},
                 {UopCode::kFma, kSum, kIm, kSine, kSum, 0},
                 {UopCode::kStore, 0, kSum, 4, 0, 0},
                 {UopCode::kFneg, kNegative, kRe, 0, 0, 0},
                 {UopCode::kFmul, kSum, kIm, kCosine, kFormat, 0},
                 {UopCode::kFma, kSum, kNegative, kSine, kSum, 0},
                 {UopCode::kStore, 0, kSum, 5, 0, 0}};
    step.register_count = kRegisters;
    merge_dimensions(step);
    emitter_.add(std::move(step));
  }

  // One part of the result, from both of transformed columns.
  void add_rows(const View& both, Part of) {
    const int64_t width = both.dims[3], columns = emitter_.facts().result(op_).shape[2];
    std::vector<uint8_t> bytes;
    for (int64_t to = 0; to < columns; ++to) {
      for (const Part part : kParts) {
        for (int64_t from = 0; from < width; ++from) append(bytes, factor(of, part, to * from, width));
      }
    }
    MxuStep step = plain_step(MxuMode::kConv, columns);
    step.src = both;
    step.weights = emitter_.constant(std::move(bytes), Element::kF32, {columns, 2, 1, width});
    step.kernel_h = 2;
    step.dst = result(of, {both.dims[0], 1, both.dims[2], columns});
    emitter_.add(std::move(step));
  }

  Emitter& emitter_;
  const graph::Operator& op_;
  const double direction_;
};

void emit_fourier(Emitter& emitter, const Group& group) { Transform(emitter, emitter.facts().op(group.ops[0])).run(); }

}  // namespace

const Family kFourierFamily = {Kind::kStep, contract::Engine::kMxu, check_fourier, accepts_fourier, emit_fourier};

}  // namespace npu::compiler
