// SPDX-License-Identifier: Apache-2.0
// RESIZE: blends of strided views on the VPU, in one pass or in one pass a direction, and in stripes where the images
// are too large for the scratchpad: of some of the images, or of rows of one.
#include <algorithm>
#include <bit>
#include <map>

#include "driver/compiler/lower/emitter.h"
#include "driver/compiler/lower/ewise_step.h"
#include "driver/compiler/lower/families.h"
#include "driver/compiler/lower/resize_plan.h"
#include "driver/compiler/lower/resize_program.h"

namespace npu::compiler {
namespace {

using contract::Element;

std::optional<Refusal> check_resize(const Facts& facts, const graph::Operator& op) {
  if (auto refusal = refuse_vpu_type(facts, op)) return refusal;
  return refuse_run_time_shapes(facts, op);
}

bool accepts_resize(const graph::Operator&, size_t, const View& view) {
  for (int64_t stride : view.strides) {
    if (stride < 0) return false;
  }
  return true;
}

// [images, rows, W, C] of [N, H, W, C], from image n and row y on.
View part_of(const View& all, int64_t n, int64_t images, int64_t y, int64_t rows) {
  Dims size = all.dims;
  size[0] = images;
  size[1] = rows;
  return slice(all, {n, y, 0, 0}, size);
}

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

int64_t bytes_of_row(const View& image) {
  return product(std::span(image.dims).subspan(2)) * contract::element_bytes(image.type);
}

class ResizeEmitter {
 public:
  ResizeEmitter(Emitter& emitter, const graph::Operator& op, const EwiseProgram* tail)
      : emitter_(emitter),
        facts_(emitter.facts()),
        op_(op),
        machine_(emitter.capabilities()),
        tail_(tail),
        y_(axis(0)),
        x_(axis(1)),
        x_covers_(resize_covers(x_)) {}

  void emit(const View& src, const View& dst) {
    const Images images{src, dst};
    const int64_t batch = src.dims[0], height = dst.dims[1];
    Stripe stripe = stripe_of(images);
    if (stripe.images == 0) return emit_images(images, plan(images, y_));
    if (stripe.images == 1) {  // an odd scale takes many steps a stripe
      const int64_t stripes = std::max<int64_t>(1, kMostSteps / steps_of(plan(images, y_)) / batch);
      stripe.rows = std::max(stripe.rows, ceil_div(height, stripes));
    }
    for (int64_t n = 0; n < batch; n += stripe.images) {
      const int64_t count = std::min(stripe.images, batch - n);
      for (int64_t begin = 0; begin < height; begin += stripe.rows) {
        const int64_t rows = std::min(stripe.rows, height - begin);
        const ResizeAxis::Part part = y_.part(begin, rows);
        emit_stripe({part_of(src, n, count, part.low, part.axis.in), part_of(dst, n, count, begin, rows)}, part.axis);
      }
    }
  }

 private:
  struct Images {
    View src, dst;  // [N, H, W, C]
  };
  // What is made at a time: some images whole, or rows of one.
  struct Stripe {
    int64_t images = 0, rows = 0;
  };

  [[nodiscard]] bool nearest() const { return op_.attributes.resize_mode == graph::ResizeMode::kNearest; }

  [[nodiscard]] ResizeAxis axis(size_t which) const {
    const Dims scale = *facts_.shape_operand(op_, 0), offset = *facts_.shape_operand(op_, 1);
    return resize_axis(facts_.tensor(op_.inputs[0]).shape[which + 1], facts_.result(op_).shape[which + 1],
                       scale[2 * which], scale[2 * which + 1], offset[which], nearest());
  }

  // No images: all stay in the scratchpad, or not even single rows do.
  [[nodiscard]] Stripe stripe_of(const Images& images) const {
    const auto& [src, dst] = images;
    const int64_t room = machine_.spm_bytes / 2;  // for one stripe; the next one is loaded beside it
    const int64_t in = src.dims[1], out = dst.dims[1], batch = src.dims[0];
    const int64_t source_row = bytes_of_row(src), result_row = bytes_of_row(dst);
    // The intermediate image is as wide as one of the two.
    const int64_t pixels = std::max(src.dims[2], dst.dims[2]) * src.dims[3];
    const int64_t between_row = pixels * contract::element_bytes(type_between(src.type, std::max(y_.unit, x_.unit)));
    const auto bytes = [&](int64_t rows) {
      const int64_t read = std::min(in, (rows * in + out - 1) / out + 2);
      return read * source_row + std::max(read, rows) * between_row + rows * result_row;
    };
    if (batch * bytes(out) <= room) return {};
    if (const int64_t most = room / bytes(out); most > 0) {
      return {ceil_div(batch, ceil_div(batch, most)), out};  // as many in each stripe
    }
    int64_t rows = out;
    while (rows > 0 && bytes(rows) > room) --rows;
    return rows == 0 ? Stripe{} : Stripe{1, rows};
  }

  static int64_t steps_of(const ResizePlan& plan) {
    int64_t steps = 0;
    for (const ResizePass& pass : plan.passes) steps += std::ssize(pass.y.cover) * std::ssize(pass.x.cover);
    return steps;
  }

  [[nodiscard]] ResizePlan plan(const Images& images, const ResizeAxis& y) const {
    return plan_resize(y, x_,
                       {x_covers_, images.src.type, images.dst.type, images.dst.dims, resize_sums(facts_, op_), tail_},
                       machine_);
  }

  // Stripes of the same samples are planned once.
  const ResizePlan& plan_of_stripe(const Images& images, const ResizeAxis& y) {
    if (!planned_ || planned_->images != images.dst.dims[0] || planned_->samples != y.samples) {
      planned_ = Planned{images.dst.dims[0], y.samples, plan(images, y)};
    }
    return planned_->plan;
  }

  // One stripe comes from and goes to where the whole images are in few long runs.
  void emit_stripe(const Images& images, const ResizeAxis& y) {
    const View src = new_image(images.src.type, images.src.dims), dst = new_image(images.dst.type, images.dst.dims);
    emitter_.add_copy(images.src, src);
    emit_images({src, dst}, plan_of_stripe(images, y));
    emitter_.add_copy(dst, images.dst);
  }

  void emit_images(const Images& images, const ResizePlan& plan) {
    const auto& [src, dst] = images;
    const std::vector<ResizePass>& passes = plan.passes;
    View from = src;
    for (const ResizePass& pass : passes) {
      const bool last = &pass == &passes.back();
      const Dims dims = {src.dims[0], std::ssize(pass.y.axis.samples), std::ssize(pass.x.axis.samples), src.dims[3]};
      const View to = last ? dst : new_image(pass.type, dims);
      emit_pass(pass, from, to);
      from = to;
    }
  }

  void emit_pass(const ResizePass& pass, const View& from, const View& to) {
    for (const ResizeSegment& y : pass.y.cover) {
      for (const ResizeSegment& x : pass.x.cover) emitter_.add(step(pass, y, x, from, to));
    }
  }

  EwiseStep step(const ResizePass& pass, const ResizeSegment& y, const ResizeSegment& x, const View& from,
                 const View& to) {
    const ResizeProgram program = make_resize_program(pass.y.blend(y), pass.x.blend(x), pass.sums, pass.tail);
    EwiseStep step;
    step.dims = {to.dims[0], y.count, y.repeat, x.count, x.repeat, to.dims[3]};
    step.uops = program.uops;
    step.register_count = program.register_count;
    step.innermost_fixed = pass.tail != nullptr && pass.tail->innermost_fixed;
    for (const ResizeOperand& o : program.operands) {
      switch (o.role) {
        case ResizeOperand::Role::kPixel:
          step.operands.push_back({pixels(from, step.dims, y, x, o)});
          break;
        case ResizeOperand::Role::kWeightY:
          step.operands.push_back({weights(pass.y.axis, step.dims, y, 1, o.below)});
          break;
        case ResizeOperand::Role::kWeightX:
          step.operands.push_back({weights(pass.x.axis, step.dims, x, 3, o.right)});
          break;
        case ResizeOperand::Role::kResult:
          step.operands.push_back({results(to, step.dims, y, x), false, true});
          break;
        case ResizeOperand::Role::kTail:
          step.operands.push_back({tail_block(pass.tail->operands[o.tail], o.tail), true});
          break;
      }
    }
    merge_dimensions(step);
    return step;
  }

  static View pixels(const View& from, const Dims& dims, const ResizeSegment& y, const ResizeSegment& x,
                     const ResizeOperand& o) {
    const std::vector<int64_t>& s = from.strides;
    const int64_t row = y.first + (o.below ? 1 : 0), column = x.first + (o.right ? 1 : 0);
    return {from.buffer,
            from.offset + row * s[1] + column * s[2],
            from.type,
            dims,
            {s[0], y.step * s[1], 0, x.step * s[2], 0, s[3]}};
  }

  static View results(const View& to, const Dims& dims, const ResizeSegment& y, const ResizeSegment& x) {
    const std::vector<int64_t>& s = to.strides;
    return {to.buffer,
            to.offset + y.out * s[1] + x.out * s[2],
            to.type,
            dims,
            {s[0], y.out_step * s[1], s[1], x.out_step * s[2], s[2], s[3]}};
  }

  // Of all positions of the axis: first those of the first pixel, then those of the one behind it. The steps walk them
  // along dimensions `dim` and dim + 1.
  View weights(const ResizeAxis& axis, const Dims& dims, const ResizeSegment& s, size_t dim, bool behind) {
    const Element type = resize_weight_type(resize_sums(facts_, op_));
    const int64_t unit = contract::element_bytes(type);
    std::vector<uint8_t> bytes;
    for (const bool second : {false, true}) {
      for (const ResizeSample& sample : axis.samples) {
        const int64_t weight = second ? sample.weight : axis.unit - sample.weight;
        const auto bits = type == Element::kF32 ? std::bit_cast<uint32_t>(resize_fraction(weight, axis.unit))
                                                : static_cast<uint32_t>(weight);
        for (int64_t i = 0; i < unit; ++i) bytes.push_back(static_cast<uint8_t>(bits >> (8 * i)));
      }
    }
    View view{emitter_.constant_blob(std::move(bytes)).buffer, 0, type, dims, Dims(dims.size())};
    view.offset = unit * (s.out + (behind ? std::ssize(axis.samples) : 0));
    view.strides[dim] = unit * s.out_step;
    view.strides[dim + 1] = unit;
    return view;
  }

  // A block that is made at run time is made once for all steps.
  View tail_block(const EwiseOperand& operand, uint32_t index) {
    const auto known = tail_blocks_.find(index);
    return known != tail_blocks_.end() ? known->second : tail_blocks_[index] = block_of(emitter_, operand);
  }

  View new_image(Element type, const Dims& dims) { return emitter_.intermediate(facts_.result(op_).name, type, dims); }

  static constexpr int64_t kMostSteps = 8192;

  Emitter& emitter_;
  const Facts& facts_;
  const graph::Operator& op_;
  const contract::Capabilities& machine_;
  const EwiseProgram* tail_;
  const ResizeAxis y_, x_;
  const ResizeCovers x_covers_;
  struct Planned {
    int64_t images = 0;
    std::vector<ResizeSample> samples;
    ResizePlan plan;
  };
  std::optional<Planned> planned_;        // the stripe before
  std::map<uint32_t, View> tail_blocks_;  // by operand of the tail
};

void emit_resize(Emitter& emitter, const Group& group) {
  const Facts& facts = emitter.facts();
  const graph::Operator &op = facts.op(group.ops.front()), &last = facts.op(group.ops.back());
  const std::span<const size_t> followers = std::span(group.ops).subspan(1);
  const std::optional<EwiseProgram> tail =
      followers.empty() ? std::nullopt : std::optional(resize_tail(facts, followers));
  const View src = emitter.read_operand(op, 0);
  ResizeEmitter(emitter, op, tail ? &*tail : nullptr).emit(src, emitter.place(last.outputs[0]));
}

}  // namespace

const Family kResizeFamily = {Kind::kStep, contract::Engine::kVpu, check_resize, accepts_resize,
                              emit_resize, resize_followers};

}  // namespace npu::compiler
