// SPDX-License-Identifier: Apache-2.0
// TRANSPOSE_CONV2D: each phase of its results (phases.h) is a CONV2D of stride 1 that writes every stride-th row, and
// every stride-th column or group of neighbouring columns. Neighbours are then channels of one pixel.
#include <algorithm>
#include <map>
#include <vector>

#include "driver/compiler/lower/convolution.h"
#include "driver/compiler/lower/phases.h"
#include "driver/graph/analyse.h"

namespace npu::compiler {
namespace {

enum Axis : size_t { kY, kX };

// Rows have a step each as long as they are few. More of them are channels of a pixel, too, and DMA brings them to
// their places.
constexpr int64_t kMostRows = 64;

TransposedAxis axis_of(const Facts& facts, const graph::Operator& op, Axis axis) {
  return {window_of(facts, op)[axis], op.attributes.stride[axis], op.attributes.out_pad[2 * axis],
          facts.result(op).shape[1 + axis]};
}

std::optional<Refusal> check_transpose_conv(const Facts& facts, const graph::Operator& op) {
  if (auto refusal = check_convolution(facts, op)) return refusal;
  for (const int64_t pad : op.attributes.out_pad) {
    if (auto refusal = refuse_above("out_pad", pad, kMostPadding)) return refusal;
  }
  for (const Axis axis : {kY, kX}) {
    for (const Phase& phase : phases_of(axis_of(facts, op, axis), true)) {
      if (auto refusal = refuse_above("padding in steps of the stride", phase.padding, kMostPadding)) return refusal;
    }
  }
  return std::nullopt;
}

// Weights are laid out anew in any case.
bool accepts_transpose_conv(const graph::Operator&, size_t operand, const View& view) {
  return operand == 1 || inner_dense(view);
}

class Phases {
 public:
  Phases(Emitter& emitter, const graph::Operator& op, const OutputStage& stage)
      : emitter_(emitter),
        facts_(emitter.facts()),
        op_(op),
        step_(convolution_step(emitter, op, stage, facts_.result(op).shape[3])) {
    step_.src = emitter.read_operand(op, 0);
    step_.dst = emitter.place(stage.result, facts_.result(op).shape, true);
    step_.stride_y = step_.stride_x = step_.dilation_y = step_.dilation_x = 1;
  }

  void run() {
    const TransposedAxis y_axis = axis_of(facts_, op_, kY), x_axis = axis_of(facts_, op_, kX);
    const View& dst = step_.dst;
    const bool adjacent = dst.strides[2] == dst.dims[3] * contract::element_bytes(dst.type);  // columns
    for (const Phase& y : phases_of(y_axis, std::min(y_axis.stride, y_axis.kernel) > kMostRows)) {
      const View rows = part(dst, 1, y, y_axis.stride);
      if (y.taps == 0) {
        add_bias_only(emitter_, step_, rows);
        continue;
      }
      for (const Phase& x : phases_of(x_axis, adjacent)) {
        const View region = part(rows, 3, x, x_axis.stride);
        if (x.taps == 0) {
          add_bias_only(emitter_, step_, region);
        } else {
          add_convolution(y, x, region);
        }
      }
    }
  }

 private:
  // The results of a phase along dimension `dim`, which becomes two: every stride-th, and neighbours.
  static View part(const View& view, size_t dim, const Phase& phase, int64_t stride) {
    View result = every(view, dim, phase.first, phase.count, stride);
    const auto at = static_cast<std::ptrdiff_t>(dim) + 1;
    result.dims.insert(result.dims.begin() + at, phase.width);
    result.strides.insert(result.strides.begin() + at, view.strides[dim]);
    return result;
  }

  // region: [N, rows, neighbours, columns, neighbours, OC]
  void add_convolution(const Phase& y, const Phase& x, const View& region) {
    MxuStep step = step_;
    step.weights = weights_of(y, x);
    step.kernel_h = y.taps;
    step.kernel_w = x.taps;
    step.pad_top = y.padding;
    step.pad_left = x.padding;
    repeat_params(y.width * x.width, step);
    const Dims& r = region.dims;
    const Dims image = {r[0], y.count, x.count, y.width * x.width * r[5]};
    if (y.width == 1) {
      step.dst = *reshape(region, image);
      return emitter_.add(std::move(step));
    }
    const View made = emitter_.intermediate("rows", region.type, {r[0], r[1], r[3], r[2], r[4], r[5]});
    step.dst = *reshape(made, image);
    emitter_.add(std::move(step));
    emitter_.add_copy(permute(made, std::vector<int32_t>{0, 1, 3, 2, 4, 5}), region);
  }

  // For so many neighbours.
  void repeat_params(int64_t times, MxuStep& step) {
    const std::vector<contract::ParameterEntry> channels = step.params.entries;
    for (int64_t j = 1; j < times; ++j) {
      step.params.entries.insert(step.params.entries.end(), channels.begin(), channels.end());
    }
    if (!step.block || times == 1) return;
    const auto known = blocks_.find(times);
    step.block = known != blocks_.end() ? known->second : blocks_[times] = repeated_block(emitter_, *step.block, times);
  }

  // [neighbours of y, of x, OC; taps, taps, IC], the first three as one. What the operand's ends have of a group of
  // neighbours uses weights of the group.
  View weights_of(const Phase& y, const Phase& x) {
    const graph::Shape& shape = facts_.tensor(op_.inputs[1]).shape;  // [OC, KH, KW, IC]
    const Dims dims = {y.width * x.width * shape[0], y.taps, x.taps, shape[3]};
    for (const Known& known : weights_) {
      const int64_t at = (x.first_tap - known.first_x) * shape[0];
      if (y.width > 1 || known.first_y != y.first_tap || at < 0 || at + dims[0] > known.view.dims[0]) continue;
      return slice(known.view, {at, 0, 0, 0}, dims);
    }
    View result;
    if (const Constant* constant = facts_.constant(op_.inputs[1])) {
      const View taps = taps_of(dense_view(0, step_.weights.type, shape), y, x);
      std::vector<uint8_t> bytes(static_cast<size_t>(product(dims) * contract::element_bytes(taps.type)));
      copy_elements(taps, constant->bytes->data(), bytes.data(), dense_view(0, taps.type, taps.dims).strides);
      result = emitter_.constant(std::move(bytes), taps.type, dims);
    } else {
      result = run_time_weights(taps_of(emitter_.read(op_.inputs[1]), y, x), dims);
    }
    if (y.width == 1) weights_.push_back({y.first_tap, x.first_tap, result});
    return result;
  }

  // The weights of a phase where they lie: [neighbours of y, of x, OC, taps, taps, IC].
  View taps_of(const View& weights, const Phase& y, const Phase& x) const {
    const auto flipped = [](const View& view, size_t dim, const Phase& phase, int64_t stride) {
      return every(view, dim, phase.first_tap + (phase.taps - 1) * stride, phase.taps, -stride);
    };
    View taps = flipped(weights, 1, y, op_.attributes.stride[kY]);
    taps = flipped(taps, 2, x, op_.attributes.stride[kX]);
    taps.dims.insert(taps.dims.begin(), {y.width, x.width});
    taps.strides.insert(taps.strides.begin(), {weights.strides[1], weights.strides[2]});
    return taps;
  }

  View run_time_weights(const View& taps, const Dims& dims) {
    if (const std::optional<View> rows = reshape(taps, dims); rows && has_dense_rows(*rows)) return *rows;
    const View dense = emitter_.intermediate(facts_.tensor(op_.inputs[1]).name, taps.type, taps.dims);
    emitter_.add_copy(taps, dense);
    return *reshape(dense, dims);
  }

  // Weights of phases with these first taps, of one row.
  struct Known {
    int64_t first_y = 0, first_x = 0;
    View view;
  };

  Emitter& emitter_;
  const Facts& facts_;
  const graph::Operator& op_;
  MxuStep step_;  // what all phases share
  std::vector<Known> weights_;
  std::map<int64_t, View> blocks_;  // that are made at run time, by how often they have each channel
};

void emit_transpose_conv(Emitter& emitter, const Group& group) {
  const graph::Operator& op = emitter.facts().op(group.ops[0]);
  emitter.layer().macs = graph::macs(emitter.facts().block(), op);
  Phases(emitter, op, stage_of(emitter.facts(), group)).run();
}

}  // namespace

const Family kTransposeConvFamily = {Kind::kMxu, contract::Engine::kMxu, check_transpose_conv, accepts_transpose_conv,
                                     emit_transpose_conv};

}  // namespace npu::compiler
