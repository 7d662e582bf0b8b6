// SPDX-License-Identifier: Apache-2.0
// The output stage. Included by one kernels_*.cpp.

namespace npu::engine::NPU_SIMD {
namespace {

// The accumulator's bias: an array a width.
inline const int32_t* bias_of(const OutputStage& stage, const OutputBlock<int32_t>& block) {
  return stage.bias32 + block.first_channel;
}
inline const int64_t* bias_of(const OutputStage& stage, const OutputBlock<int64_t>& block) {
  return stage.bias48 + block.first_channel;
}

// Accumulator plus bias plus the pixel's offset, wrapping at the accumulator's width.
inline int64_t biased(int32_t acc, int32_t bias, int64_t offset) {
  return static_cast<int32_t>(static_cast<uint32_t>(acc) + static_cast<uint32_t>(bias) + static_cast<uint32_t>(offset));
}
inline int64_t biased(int64_t acc, int64_t bias, int64_t offset) {
  return wrap48(wrapping_add(wrapping_add(acc, bias), offset));
}

// Everything that the inner loop uses is a local: stores of bytes may alias any structure.
// The product must not exceed 64 bits: 32 x 32 for narrow accumulators, 48 x 16 for wide ones.
template <class Result, class Accumulator>
inline void output_scaled(const OutputStage& stage, const OutputBlock<Accumulator>& block) {
  const size_t first = block.first_channel, channels = block.channels;
  const Accumulator* __restrict bias = bias_of(stage, block);
  const int32_t* __restrict multiplier = stage.multiplier + first;
  const int64_t* __restrict round = stage.round + first;
  const int64_t* __restrict extra = stage.extra + first;
  const int64_t* __restrict shift = stage.shift + first;
  const uint32_t zero = static_cast<uint32_t>(stage.zero_point);
  const int32_t low = stage.low, high = stage.high, clamp_min = stage.clamp_min, clamp_max = stage.clamp_max;
  for (size_t p = 0; p < block.pixels; ++p) {
    const Accumulator* __restrict acc = block.acc + p * block.acc_stride;
    uint8_t* __restrict to = block.rows[p] + first * sizeof(Result);
    const int64_t offset = block.row_offset == nullptr ? 0 : block.row_offset[p];
    for (size_t c = 0; c < channels; ++c) {
      const int64_t value = biased(acc[c], bias[c], offset);
      const int32_t scaled = scale_value(value * multiplier[c], value < 0, round[c], extra[c], shift[c]);
      const int32_t moved = static_cast<int32_t>(static_cast<uint32_t>(scaled) + zero);
      store_at<Result>(to, c, static_cast<Result>(clip(clip(moved, low, high), clamp_min, clamp_max)));
    }
  }
}

template <class Result, class Accumulator>
inline void output_raw(const OutputStage& stage, const OutputBlock<Accumulator>& block) {
  const size_t channels = block.channels;
  const Accumulator* __restrict bias = bias_of(stage, block);
  for (size_t p = 0; p < block.pixels; ++p) {
    const Accumulator* __restrict acc = block.acc + p * block.acc_stride;
    uint8_t* __restrict to = block.rows[p] + block.first_channel * sizeof(Result);
    const int64_t offset = block.row_offset == nullptr ? 0 : block.row_offset[p];
    for (size_t c = 0; c < channels; ++c) {
      store_at<Result>(to, c, static_cast<Result>(biased(acc[c], bias[c], offset)));
    }
  }
}

// Sums of a row: own[c] becomes what leaves the stage but for the last zero point and clips.
template <bool kScalesOperand>
inline void add_row(const OutputResidual& how, const int8_t* __restrict operand, size_t channels,
                    int32_t* __restrict own) {
  const OutputScale side = how.side, sum = how.sum;
  const uint32_t value_zp = static_cast<uint32_t>(how.value_zp), operand_zp = static_cast<uint32_t>(how.operand_zp);
  const uint32_t value_left = how.value_left, operand_left = how.operand_left;
  const auto scaled = [](const OutputScale& by, uint32_t bits) {
    const auto value = static_cast<int32_t>(bits);
    return static_cast<uint32_t>(scale_value(int64_t{value} * by.multiplier, value < 0, by.round, by.extra, by.shift));
  };
  for (size_t c = 0; c < channels; ++c) {
    uint32_t from_value = (static_cast<uint32_t>(own[c]) - value_zp) << value_left;
    uint32_t from_operand = (static_cast<uint32_t>(int32_t{operand[c]}) - operand_zp) << operand_left;
    if constexpr (kScalesOperand) {
      from_operand = scaled(side, from_operand);
    } else {
      from_value = scaled(side, from_value);
    }
    own[c] = static_cast<int32_t>(scaled(sum, from_value + from_operand));
  }
}

// As output_scaled, to int8, with a residual in between.
template <bool kScalesOperand>
inline void output_added(const OutputStage& stage, const OutputBlock<int32_t>& block) {
  constexpr size_t kPiece = 64;  // channels
  const int32_t low = stage.low, high = stage.high, clamp_min = stage.clamp_min, clamp_max = stage.clamp_max;
  const auto zero = static_cast<uint32_t>(stage.zero_point),
             value_zero = static_cast<uint32_t>(stage.residual->value_zp);
  int32_t own[kPiece];
  for (size_t p = 0; p < block.pixels; ++p) {
    const int64_t offset = block.row_offset == nullptr ? 0 : block.row_offset[p];
    for (size_t from = 0; from < block.channels; from += kPiece) {
      const size_t first = block.first_channel + from,
                   channels = kPiece < block.channels - from ? kPiece : block.channels - from;
      const int32_t* __restrict acc = block.acc + p * block.acc_stride + from;
      const int32_t* __restrict bias = bias_of(stage, block) + from;
      const int32_t* __restrict multiplier = stage.multiplier + first;
      const int64_t* __restrict round = stage.round + first;
      const int64_t* __restrict extra = stage.extra + first;
      const int64_t* __restrict shift = stage.shift + first;
      for (size_t c = 0; c < channels; ++c) {
        const int64_t value = biased(acc[c], bias[c], offset);
        const int32_t scaled = scale_value(value * multiplier[c], value < 0, round[c], extra[c], shift[c]);
        own[c] = clip(static_cast<int32_t>(static_cast<uint32_t>(scaled) + value_zero), low, high);
      }
      add_row<kScalesOperand>(*stage.residual, reinterpret_cast<const int8_t*>(block.residual[p]) + first, channels,
                              own);
      uint8_t* __restrict to = block.rows[p] + first;
      for (size_t c = 0; c < channels; ++c) {
        const auto moved = static_cast<int32_t>(static_cast<uint32_t>(own[c]) + zero);
        store_at<int8_t>(to, c, static_cast<int8_t>(clip(clip(moved, low, high), clamp_min, clamp_max)));
      }
    }
  }
}

template <class Accumulator>
inline void output_any(const OutputStage& stage, const OutputBlock<Accumulator>& block) {
  switch (stage.type) {
    case contract::Element::kI8:
      if constexpr (kHasOutput8 && sizeof(Accumulator) == sizeof(int32_t)) {
        return output8(stage, block);
      } else {
        return output_scaled<int8_t>(stage, block);
      }
    case contract::Element::kI16:
      return output_scaled<int16_t>(stage, block);
    case contract::Element::kI32:
      return output_scaled<int32_t>(stage, block);
    case contract::Element::kI48:
    case contract::Element::kBool:
    case contract::Element::kF16:
    case contract::Element::kBf16:
    case contract::Element::kF32:
    case contract::Element::kF8e4m3:
    case contract::Element::kF8e5m2:
      break;  // MxuTile::make
  }
  panic(__FILE__, __LINE__, "an output stage of a type that none has");
}

void output32(const OutputStage& stage, const OutputBlock<int32_t>& block) {
  if (stage.residual != nullptr) {
    return stage.residual->scales_operand ? output_added<true>(stage, block) : output_added<false>(stage, block);
  }
  stage.raw ? output_raw<int32_t>(stage, block) : output_any(stage, block);
}

void output48(const OutputStage& stage, const OutputBlock<int64_t>& block) {
  stage.raw ? output_raw<int64_t>(stage, block) : output_any(stage, block);
}

}  // namespace
}  // namespace npu::engine::NPU_SIMD
