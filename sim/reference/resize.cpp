// SPDX-License-Identifier: Apache-2.0
// RESIZE of images, nearest and bilinear. Positions are integers, in units of 1 / scale; bilinear leaves the result of
// integers scaled by scale_y_n * scale_x_n.
#include <algorithm>

#include "sim/reference/arithmetic.h"
#include "sim/reference/operators.h"

namespace npu::reference {
namespace {

using contract::ErrorCode;

// One direction: where the result's coordinate falls between two neighbours of the operand.
struct ResizeAxis {
  int64_t in = 0, out = 0, scale_n = 0, scale_d = 0, offset = 0;

  struct Position {
    int64_t first, second;  // clamped to the image
    int64_t weight;         // of the second, in units of 1 / scale_n
  };
  [[nodiscard]] Position at(int64_t o) const {
    const int64_t scaled = o * scale_d + offset;
    const int64_t whole = scaled >= 0 ? scaled / scale_n : -((-scaled + scale_n - 1) / scale_n);
    return {std::clamp<int64_t>(whole, 0, in - 1), std::clamp<int64_t>(whole + 1, 0, in - 1), scaled - whole * scale_n};
  }
};

ResizeAxis resize_axis_of(const Call& call, size_t which) {
  const auto scale = shape_operand(call, 1);
  const auto offset = shape_operand(call, 2);
  const auto border = shape_operand(call, 3);
  call.error_if(scale.size() != 4 || offset.size() != 2 || border.size() != 2, ErrorCode::kBadShape,
                "scale needs 4 values, offset and border 2");
  const ResizeAxis axis{.in = call.input(0).shape[which + 1],
                        .out = call.output().shape[which + 1],
                        .scale_n = scale[2 * which],
                        .scale_d = scale[2 * which + 1],
                        .offset = offset[which]};
  const char* name = which == 0 ? "y" : "x";
  call.error_if(std::max(axis.in, axis.out) >= 16384, ErrorCode::kBadShape, "images must be smaller than 16384");
  call.error_if(axis.scale_n <= 0 || axis.scale_d <= 0 || axis.scale_n > 2048 || axis.scale_d >= 16 * axis.scale_n,
                ErrorCode::kBadArgument, fmt::format("the scale in {} is out of range", name));
  call.error_if(axis.offset < -axis.scale_n || axis.offset >= 16 * axis.scale_n, ErrorCode::kBadArgument,
                fmt::format("the offset in {} is out of range", name));
  call.error_if(border[which] < -16 * axis.scale_n || border[which] >= axis.scale_n, ErrorCode::kBadArgument,
                fmt::format("the border in {} is out of range", name));
  const int64_t extent = (axis.in - 1) * axis.scale_n - axis.offset + border[which];
  call.error_if(extent % axis.scale_d != 0 || extent / axis.scale_d + 1 != axis.out, ErrorCode::kBadShape,
                fmt::format("the result's size in {} does not follow from scale, offset and border", name));
  return axis;
}

template <typename In, typename Out>
void resize_as(Call& call) {
  const Shape& shape = call.input(0).shape;
  const ResizeAxis y_axis = resize_axis_of(call, 0);
  const ResizeAxis x_axis = resize_axis_of(call, 1);
  const bool bilinear = call.attributes().resize_mode == graph::ResizeMode::kBilinear;
  using Wide = typename In::Wide;
  const auto in = elements<typename In::T>(call.input(0));
  const auto out = elements<typename Out::T>(call.output());
  const int64_t channels = shape[3];
  int64_t at = 0;
  for (int64_t n = 0; n < shape[0]; ++n) {
    for (int64_t oy = 0; oy < y_axis.out; ++oy) {
      for (int64_t ox = 0; ox < x_axis.out; ++ox) {
        const ResizeAxis::Position y = y_axis.at(oy);
        const ResizeAxis::Position x = x_axis.at(ox);
        for (int64_t c = 0; c < channels; ++c) {
          const auto pixel = [&](int64_t iy, int64_t ix) -> Wide {
            return In::load(in[((n * y_axis.in + iy) * x_axis.in + ix) * channels + c]);
          };
          Wide value;
          if (bilinear) {
            const auto weight_y = static_cast<Wide>(y.weight);
            const auto weight_x = static_cast<Wide>(x.weight);
            const auto rest_y = static_cast<Wide>(y_axis.scale_n - y.weight);
            const auto rest_x = static_cast<Wide>(x_axis.scale_n - x.weight);
            value = pixel(y.first, x.first) * rest_y * rest_x + pixel(y.first, x.second) * rest_y * weight_x +
                    pixel(y.second, x.first) * weight_y * rest_x + pixel(y.second, x.second) * weight_y * weight_x;
            if constexpr (In::kIsFloat) {
              value /= static_cast<double>(y_axis.scale_n * x_axis.scale_n);
            }
          } else {
            value = pixel(2 * y.weight >= y_axis.scale_n ? y.second : y.first,
                          2 * x.weight >= x_axis.scale_n ? x.second : x.first);
          }
          out[at++] = Out::store(value);
        }
      }
    }
  }
}

}  // namespace

void resize(Call& call) {
  const Value& result = call.output();
  const Shape& in = call.input(0).shape;
  call.error_if(in.size() != 4 || result.shape.size() != 4 || in[0] != result.shape[0] || in[3] != result.shape[3],
                ErrorCode::kBadShape, "operand and result must be NHWC with equal N and C");
  const DType type = call.input(0).type;
  const bool bilinear = call.attributes().resize_mode == graph::ResizeMode::kBilinear;
  if (bilinear && type == DType::kInt8 && result.type == DType::kInt32) {
    resize_as<Int8, Int32>(call);
  } else if (bilinear && type == DType::kInt16 && result.type == DType::kInt48) {
    resize_as<Int16, Int48>(call);
  } else if (!bilinear && type == DType::kInt8 && result.type == type) {
    resize_as<Int8, Int8>(call);
  } else if (!bilinear && type == DType::kInt16 && result.type == type) {
    resize_as<Int16, Int16>(call);
  } else if (result.type == type) {
    for_type<Fp32, Fp16, Bf16>(call, type, [&](auto t) { resize_as<decltype(t), decltype(t)>(call); });
  } else {
    call.unsupported_types();
  }
}

}  // namespace npu::reference
