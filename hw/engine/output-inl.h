// The output stage. Included by one kernels_*.cpp.

namespace npu::engine::NPU_SIMD {
namespace {

// The product must not exceed 64 bits: 32 x 32 for narrow accumulators, 48 x 16 for wide ones.
template <class Result, class Accumulator>
inline void output_scaled(const OutputStage& stage, const OutputBlock<Accumulator>& block) {
  const size_t first = block.first_channel;
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
    for (size_t c = 0; c < block.channels; ++c) {
      int64_t value;
      if constexpr (sizeof(Accumulator) == 4) {
        const int32_t* bias = stage.bias32 + first;
        value = static_cast<int32_t>(static_cast<uint32_t>(acc[c]) + static_cast<uint32_t>(bias[c]) +
                                     static_cast<uint32_t>(offset));
      } else {
        const int64_t* bias = stage.bias48 + first;
        value = wrap48(wrapping_add(wrapping_add(acc[c], bias[c]), offset));
      }
      const int32_t scaled = scale_value(value * multiplier[c], value < 0, round[c], extra[c], shift[c]);
      const int32_t moved = static_cast<int32_t>(static_cast<uint32_t>(scaled) + zero);
      const int32_t result = clip(clip(moved, low, high), clamp_min, clamp_max);
      store_at<Result>(to, c, static_cast<Result>(result));
    }
  }
}

template <class Accumulator>
inline void output_any(const OutputStage& stage, const OutputBlock<Accumulator>& block) {
  switch (stage.type) {
    case contract::Element::kI8:
      return output_scaled<int8_t>(stage, block);
    case contract::Element::kI16:
      return output_scaled<int16_t>(stage, block);
    default:
      return output_scaled<int32_t>(stage, block);
  }
}

void output32(const OutputStage& stage, const OutputBlock<int32_t>& block) {
  if (!stage.raw) return output_any(stage, block);
  for (size_t p = 0; p < block.pixels; ++p) {
    const int32_t* __restrict acc = block.acc + p * block.acc_stride;
    const int32_t* __restrict bias = stage.bias32 + block.first_channel;
    uint8_t* __restrict to = block.rows[p] + block.first_channel * sizeof(int32_t);
    const uint32_t offset = static_cast<uint32_t>(block.row_offset == nullptr ? 0 : block.row_offset[p]);
    for (size_t c = 0; c < block.channels; ++c) {
      store_at<uint32_t>(to, c, static_cast<uint32_t>(acc[c]) + static_cast<uint32_t>(bias[c]) + offset);
    }
  }
}

void output48(const OutputStage& stage, const OutputBlock<int64_t>& block) {
  if (!stage.raw) return output_any(stage, block);
  for (size_t p = 0; p < block.pixels; ++p) {
    const int64_t* __restrict acc = block.acc + p * block.acc_stride;
    const int64_t* __restrict bias = stage.bias48 + block.first_channel;
    uint8_t* __restrict to = block.rows[p] + block.first_channel * sizeof(int64_t);
    const int64_t offset = block.row_offset == nullptr ? 0 : block.row_offset[p];
    for (size_t c = 0; c < block.channels; ++c) {
      store_at<int64_t>(to, c, wrap48(wrapping_add(wrapping_add(acc[c], bias[c]), offset)));
    }
  }
}

}  // namespace
}  // namespace npu::engine::NPU_SIMD
