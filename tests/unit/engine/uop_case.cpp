// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/engine/uop_case.h"

#include <algorithm>

#include "tests/unit/engine/scalar_math.h"
#include "tests/unit/engine/support.h"

namespace npu::engine::testing {

using contract::Element;
using contract::Operand;
using contract::UopCode;

Numbers range(int64_t low, int64_t high) {
  Numbers values;
  for (int64_t v = low; v <= high; ++v) values.push_back(v);
  return values;
}

Numbers corners() {
  Numbers values = {INT32_MIN, INT32_MIN + 1, INT32_MAX, INT32_MAX - 1, -65536, 65535, 32768, -32769};
  for (const int64_t v : range(-5, 35)) values.push_back(v);
  for (int bit = 6; bit < 31; ++bit) values.push_back(int64_t{1} << bit);
  return values;
}

UopCase::UopCase(contract::Uop uop, Element in_type, const std::vector<Numbers>& inputs, Element out_type,
                 const std::vector<uint8_t>& blob, int32_t load_flags)
    : bytes(inputs[0].size() * 8 * (inputs.size() + 1) + blob.size()), count_(inputs[0].size()) {
  command.header.queue = contract::Queue::kVpu;
  command.dims = {1, 1, 1, static_cast<uint32_t>(count_)};
  command.register_count = 4;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const uint32_t index = add_operand(in_type);
    uint8_t* to = bytes.data() + command.operands[index].base.offset;
    for (size_t e = 0; e < count_; ++e) store(to + e * element_bytes(in_type), in_type, inputs[i][e]);
    command.uops.push_back({UopCode::kLoad, static_cast<uint32_t>(i), index, 0, load_flags, 0});
  }
  result_ = add_operand(out_type);
  if (!blob.empty()) {
    Operand table;
    table.base = scratchpad(at_);
    table.bytes = static_cast<uint32_t>(blob.size());
    std::copy(blob.begin(), blob.end(), bytes.begin() + at_);
    command.operands.push_back(table);
    uop.b = static_cast<uint32_t>(command.operands.size() - 1);
  }
  uop.dst = 3;
  command.uops.push_back(uop);
  command.uops.push_back({UopCode::kStore, 0, 3, result_, 0, 0});
}

uint32_t UopCase::add_operand(Element type) {
  Operand stream;
  stream.base = scratchpad(at_);
  stream.type = type;
  stream.stride = {0, 0, 0, static_cast<int32_t>(element_bytes(type))};
  at_ += static_cast<uint32_t>(count_ * element_bytes(type));
  command.operands.push_back(stream);
  return static_cast<uint32_t>(command.operands.size() - 1);
}

Numbers UopCase::results(const std::vector<uint8_t>& after) const {
  const Operand& result = command.operands[result_];
  Numbers values(count_);
  const uint8_t* from = after.data() + result.base.offset;
  for (size_t e = 0; e < count_; ++e) values[e] = load(from + e * element_bytes(result.type), result.type);
  return values;
}

}  // namespace npu::engine::testing
