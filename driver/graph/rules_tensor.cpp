// SPDX-License-Identifier: Apache-2.0
// Rules of convolutions, pooling, matrix products and transforms.
#include <string>
#include <tuple>

#include "driver/graph/operator_view.h"
#include "driver/graph/rules.h"

namespace npu::graph {
namespace {

void require_at_least(const OperatorView& op, const char* what, const std::vector<int32_t>& values, int32_t least) {
  for (const int32_t value : values) {
    if (value < least) {
      op.bad_argument(std::string(what) + " " + std::to_string(value) + " must be at least " + std::to_string(least));
    }
  }
}

// Size of the output along one dimension: a window of `window` elements that moves by `stride` over a padded input.
Dim window_positions(const OperatorView& op, const char* dimension, const Dim& size, int64_t before, int64_t after,
                     const Dim& window, int64_t stride) {
  const Dim padded = size + before + after;
  const Dim room = padded - window;
  if (!op.at_least(room, 0)) {
    op.bad_shape("the window of " + op.text(window) + " is larger than the padded " + dimension + " of " +
                 op.text(padded));
  }
  if (!op.multiple(room, stride, "stride")) {
    op.bad_shape(std::string("the padded ") + dimension + " of " + op.text(padded) + " minus the window of " +
                 op.text(window) + " is not a multiple of the stride " + std::to_string(stride));
  }
  return room.quotient(stride) + 1;
}

void require_channels(const OperatorView& op, const Dim& weight_channels) {
  const Dim channels = op.dims(0).back();
  if (!op.equal(channels, weight_channels)) {
    op.bad_shape(op.input_name(0) + " has " + op.text(channels) + " channels, but " + op.input_name(1) + " has " +
                 op.text(weight_channels));
  }
}

void require_bias(const OperatorView& op, const Dim& channels) {
  const Dim length = op.dims(2)[0];
  if (length == Dim(1) && !op.is_symbol(2, 0)) return;
  if (op.equal(length, channels)) return;
  if (length == Dim(1)) {
    op.bad_shape(op.input_name(2) + " has one element for " + op.text(channels) +
                 " output channels, but its size is unknown in the file: only a size that the file gives as 1 "
                 "broadcasts");
  }
  op.bad_shape(op.input_name(2) + " has " + op.text(length) + " elements, but there are " + op.text(channels) +
               " output channels (1 is allowed too)");
}

void require_zero_points(const OperatorView& op) {
  op.require_zero_point_only_for(DType::kInt8, 3, op.input(0).type);
  op.require_zero_point_only_for(DType::kInt8, 4, op.input(1).type);
}

Dims convolve(const OperatorView& op, const Dims& kernel, const Dim& channels) {
  static constexpr const char* kNames[] = {"depth", "height", "width"};
  const auto& [pad, stride, dilation] = std::tie(op.attributes().pad, op.attributes().stride, op.attributes().dilation);
  require_zero_points(op);
  require_at_least(op, "pad", pad, 0);
  require_at_least(op, "stride", stride, 1);
  require_at_least(op, "dilation", dilation, 1);
  require_bias(op, channels);
  const Dims input = op.dims(0);
  Dims output = {input[0]};
  for (size_t i = 0; i < kernel.size(); ++i) {
    const Dim window = (kernel[i] - 1) * dilation[i] + 1;
    output.push_back(window_positions(op, kNames[3 - kernel.size() + i], input[i + 1], pad[2 * i], pad[2 * i + 1],
                                      window, stride[i]));
  }
  output.push_back(channels);
  return output;
}

Dims pool(const OperatorView& op) {
  const auto& [kernel, stride, pad] = std::tie(op.attributes().kernel, op.attributes().stride, op.attributes().pad);
  require_at_least(op, "kernel", kernel, 1);
  require_at_least(op, "stride", stride, 1);
  require_at_least(op, "pad", pad, 0);
  for (size_t i = 0; i < 4; ++i) {
    if (pad[i] >= kernel[i / 2]) {
      op.bad_argument("pad " + std::to_string(pad[i]) + " must be smaller than the kernel of " +
                      std::to_string(kernel[i / 2]));
    }
  }
  const Dims input = op.dims(0);
  return {input[0], window_positions(op, "height", input[1], pad[0], pad[1], kernel[0], stride[0]),
          window_positions(op, "width", input[2], pad[2], pad[3], kernel[1], stride[1]), input[3]};
}

void require_powers_of_two(const OperatorView& op) {
  for (size_t i = 1; i < 3; ++i) {
    const Dim size = op.dims(0)[i];
    if (!op.power_of_two(size)) {
      op.bad_shape(op.input_name(0) + " has " + (i == 1 ? "height " : "width ") + op.text(size) +
                   ", which is not a power of two");
    }
  }
}

}  // namespace

std::vector<Dims> rule_argmax(const OperatorView& op) {
  Dims output = op.dims(0);
  output.erase(output.begin() + op.attributes().axis);
  return {output};
}

std::vector<Dims> rule_avg_pool2d(const OperatorView& op) {
  op.require_zero_point_only_for(DType::kInt8, 1, op.input(0).type);
  op.require_zero_point_only_for(DType::kInt8, 2, op.input(0).type);
  return {pool(op)};
}

std::vector<Dims> rule_max_pool2d(const OperatorView& op) { return {pool(op)}; }

std::vector<Dims> rule_conv2d(const OperatorView& op) {
  const Dims weight = op.dims(1);  // OC, KH, KW, IC
  require_channels(op, weight[3]);
  return {convolve(op, {weight[1], weight[2]}, weight[0])};
}

std::vector<Dims> rule_conv3d(const OperatorView& op) {
  const Dims weight = op.dims(1);  // OC, KD, KH, KW, IC
  require_channels(op, weight[4]);
  return {convolve(op, {weight[1], weight[2], weight[3]}, weight[0])};
}

std::vector<Dims> rule_depthwise_conv2d(const OperatorView& op) {
  const Dims weight = op.dims(1);  // KH, KW, C, M
  require_channels(op, weight[2]);
  return {convolve(op, {weight[0], weight[1]}, weight[2] * weight[3])};
}

std::vector<Dims> rule_transpose_conv2d(const OperatorView& op) {
  const Dims input = op.dims(0);
  const Dims weight = op.dims(1);  // OC, KH, KW, IC
  const auto& out_pad = op.attributes().out_pad;
  const auto& stride = op.attributes().stride;
  require_channels(op, weight[3]);
  require_zero_points(op);
  require_at_least(op, "stride", stride, 1);
  require_bias(op, weight[0]);
  Dims output = {input[0]};
  for (size_t i = 0; i < 2; ++i) {
    for (size_t side = 0; side < 2; ++side) {
      if (!op.at_least(weight[1 + i] + out_pad[2 * i + side], 1)) {
        op.bad_argument("out_pad " + std::to_string(out_pad[2 * i + side]) +
                        " must be larger than minus the kernel of " + op.text(weight[1 + i]));
      }
    }
    const Dim size = (input[1 + i] - 1) * stride[i] + out_pad[2 * i] + out_pad[2 * i + 1] + weight[1 + i];
    if (!op.at_least(size, 1)) {
      op.bad_shape(std::string("the output's ") + (i == 0 ? "height" : "width") + " would be " + op.text(size));
    }
    output.push_back(size);
  }
  output.push_back(weight[0]);
  return {output};
}

std::vector<Dims> rule_matmul(const OperatorView& op) {
  const Dims a = op.dims(0);  // N, H, C
  const Dims b = op.dims(1);  // N, C, W
  if (!op.equal(a[0], b[0]) || !op.equal(a[2], b[1])) {
    op.bad_shape(op.input_name(0) + " " + op.text(a) + " and " + op.input_name(1) + " " + op.text(b) +
                 " do not fit: [N, H, C] times [N, C, W] is expected");
  }
  op.require_zero_point_only_for(DType::kInt8, 2, op.input(0).type);
  op.require_zero_point_only_for(DType::kInt8, 3, op.input(0).type);
  return {{a[0], a[1], b[2]}};
}

std::vector<Dims> rule_fft2d(const OperatorView& op) {
  require_powers_of_two(op);
  if (!op.equal(op.dims(0), op.dims(1))) {
    op.bad_shape(op.input_name(0) + " " + op.text(op.dims(0)) + " and " + op.input_name(1) + " " + op.text(op.dims(1)) +
                 " must have the same shape");
  }
  return {op.dims(0), op.dims(0)};
}

std::vector<Dims> rule_rfft2d(const OperatorView& op) {
  require_powers_of_two(op);
  Dims output = op.dims(0);
  output[2] = output[2].floor_quotient(2) + 1;
  return {output, output};
}

}  // namespace npu::graph
