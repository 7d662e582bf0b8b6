// SPDX-License-Identifier: Apache-2.0
// FFT2D and RFFT2D: products with the matrices of the transform, first along the columns, then along the rows. That takes
// more products than a fast transform, but the MXU makes them, and all that moves is the images.
//
// With c and s the cosines and sines of the angles, a direction turns (re, im) into (re c + im s, im c - re s). Along
// the columns both parts of an image lie under each other, [2 H, W], and are the second operand of a matrix product:
//
//   | c   s |   | re |
//   | -s  c | * | im |      without im the right half of the matrix is missing
//
// Along the rows they are two rows of pixels with W channels, and the window of a convolution is one pixel of each.
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

#include "driver/compiler/lower/emitter.h"
#include "driver/compiler/lower/families.h"

namespace npu::compiler {
namespace {

using contract::Element;
using contract::MxuMode;
using graph::Op;

// Of an image: the matrix of its columns has 16 MiB then.
constexpr int64_t kMostRows = 1024, kMostColumns = 1024;

enum class Part : uint8_t { kReal, kImaginary };

std::optional<Refusal> check_fourier(const Facts& facts, const graph::Operator& op) {
  if (auto refusal = refuse_types(facts, op)) return refusal;
  if (auto refusal = refuse_mxu_type(facts, op)) return refusal;
  const graph::Shape& shape = facts.tensor(op.inputs[0]).shape;
  if (auto refusal = refuse_above("height", shape[1], kMostRows)) return refusal;
  return refuse_above("width", shape[2], kMostColumns);
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

void append(std::vector<uint8_t>& bytes, double value) {
  const auto bits = std::bit_cast<uint32_t>(static_cast<float>(value));
  for (int shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<uint8_t>(bits >> shift));
}

class Transform {
 public:
  Transform(Emitter& emitter, const graph::Operator& op)
      : emitter_(emitter),
        op_(op),
        shape_(emitter.facts().tensor(op.inputs[0]).shape),
        columns_(emitter.facts().result(op).shape[2]),
        parts_(op.op == Op::kRfft2d ? 1 : 2),
        direction_(op.attributes.inverse ? -1.0 : 1.0) {}

  void run() {
    const View both = along_columns(operand());
    along_rows(both, Part::kReal);
    along_rows(both, Part::kImaginary);
  }

 private:
  // What the part `of` gets from the part `from` of a position, and of another that is `step` of `steps` of a turn away.
  [[nodiscard]] double factor(Part of, Part from, int64_t step, int64_t steps) const {
    if (of == from) return cosine(step, steps);
    const double sine = cosine(4 * step + 3 * steps, 4 * steps);
    return of == Part::kReal ? direction_ * sine : -direction_ * sine;
  }

  // [N, parts * H, W]
  View operand() {
    const int64_t images = shape_[0], rows = shape_[1], width = shape_[2];
    if (parts_ == 1) return emitter_.read_operand(op_, 0);
    const View all = emitter_.intermediate("parts", Element::kF32, {images, 2 * rows, width});
    for (size_t part = 0; part < 2; ++part) {
      emitter_.add_copy(emitter_.read(op_.inputs[part]),
                        slice(all, {0, static_cast<int64_t>(part) * rows, 0}, {images, rows, width}));
    }
    return all;
  }

  // As [N, 2, H, W]: the real part, then the imaginary one.
  View along_columns(const View& operand) {
    const int64_t images = shape_[0], rows = shape_[1], width = shape_[2];
    std::vector<uint8_t> bytes;
    for (const Part of : {Part::kReal, Part::kImaginary}) {
      for (int64_t to = 0; to < rows; ++to) {
        for (int64_t part = 0; part < parts_; ++part) {
          for (int64_t from = 0; from < rows; ++from) append(bytes, factor(of, static_cast<Part>(part), to * from, rows));
        }
      }
    }
    const int64_t sums = parts_ * rows;
    const View result = emitter_.intermediate("columns", Element::kF32, {images, 1, 2 * rows, width});
    MxuStep step = plain_step(MxuMode::kMatmul, width);
    step.src = emitter_.constant(std::move(bytes), Element::kF32, {1, 1, 2 * rows, sums});
    step.src.dims[0] = images;
    step.src.strides[0] = 0;
    step.weights = operand;
    step.dst = result;
    emitter_.add(std::move(step));
    return *reshape(result, {images, 2, rows, width});
  }

  void along_rows(const View& both, Part of) {
    const int64_t width = shape_[2];
    std::vector<uint8_t> bytes;
    for (int64_t to = 0; to < columns_; ++to) {
      for (const Part part : {Part::kReal, Part::kImaginary}) {
        for (int64_t from = 0; from < width; ++from) append(bytes, factor(of, part, to * from, width));
      }
    }
    MxuStep step = plain_step(MxuMode::kConv, columns_);
    step.src = both;
    step.weights = emitter_.constant(std::move(bytes), Element::kF32, {columns_, 2, 1, width});
    step.kernel_h = 2;
    step.dst = emitter_.place(op_.outputs[static_cast<size_t>(of)], {shape_[0], 1, shape_[1], columns_}, true);
    emitter_.add(std::move(step));
  }

  static MxuStep plain_step(MxuMode mode, int64_t channels) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    MxuStep step{};
    step.mode = mode;
    step.rescale = contract::Rescale::kFloating;
    step.params.header.clamp_min = std::bit_cast<int32_t>(-kInfinity);
    step.params.header.clamp_max = std::bit_cast<int32_t>(kInfinity);
    step.params.entries.resize(static_cast<size_t>(channels));
    return step;
  }

  Emitter& emitter_;
  const graph::Operator& op_;
  const graph::Shape& shape_;
  const int64_t columns_;  // of the result
  const int64_t parts_;    // of the operand: 1 where it is real
  const double direction_;
};

void emit_fourier(Emitter& emitter, const Group& group) {
  Transform(emitter, emitter.facts().op(group.ops[0])).run();
}

}  // namespace

const Family kFourierFamily = {Kind::kStep, contract::Engine::kMxu, check_fourier, accepts_fourier, emit_fourier};

}  // namespace npu::compiler
