// SPDX-License-Identifier: Apache-2.0
#include "hw/engine/channel_params.h"

#include <limits>

#include "hw/contract/error.h"

namespace npu::engine {

using contract::Element;
using contract::ParameterEntry;
using contract::ParameterHeader;
using contract::Rescale;

ValueRange value_range(Element type, bool is_unsigned) {
  switch (type) {
    case Element::kI8:
      return is_unsigned ? ValueRange{0, 0xff} : ValueRange{-0x80, 0x7f};
    case Element::kI16:
      return is_unsigned ? ValueRange{0, 0xffff} : ValueRange{-0x8000, 0x7fff};
    case Element::kI32:
    case Element::kI48:
    case Element::kBool:
    case Element::kF16:
    case Element::kBf16:
    case Element::kF32:
    case Element::kF8e4m3:
    case Element::kF8e5m2:
      break;
  }
  return {std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()};
}

OutputScale output_scale(int32_t multiplier, int32_t shift, Rescale kind) {
  const int64_t amount = shift & 0x3f;
  return {kind == Rescale::kSingle16 ? static_cast<int16_t>(multiplier) : multiplier,
          amount == 0 ? 0 : int64_t{1} << (amount - 1),
          kind == Rescale::kDouble32 && amount > 31 ? int64_t{1} << 30 : 0, amount};
}

void ChannelParams::load(std::span<const uint8_t> block, size_t entries, Rescale kind) {
  NPU_CHECK(block.size() >= ParameterHeader::kBytes + entries * ParameterEntry::kBytes);
  header = ParameterHeader::load(block.data());
  bias.resize(entries);
  multiplier.resize(entries);
  round.resize(entries);
  extra.resize(entries);
  shift.resize(entries);
  for (size_t i = 0; i < entries; ++i) {
    const ParameterEntry entry =
        ParameterEntry::load(block.data() + ParameterHeader::kBytes + i * ParameterEntry::kBytes);
    const OutputScale scale = output_scale(entry.multiplier, entry.shift, kind);
    bias[i] = entry.bias;
    multiplier[i] = scale.multiplier;
    round[i] = scale.round;
    extra[i] = scale.extra;
    shift[i] = scale.shift;
  }
}

void ChannelParams::repeat(size_t times) {
  const auto repeat_one = [times](auto& values) {
    const size_t count = values.size();
    values.resize(count * times);
    for (size_t i = count; i < values.size(); ++i) values[i] = values[i - count];
  };
  repeat_one(bias);
  repeat_one(multiplier);
  repeat_one(round);
  repeat_one(extra);
  repeat_one(shift);
}

}  // namespace npu::engine
