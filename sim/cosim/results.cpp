// SPDX-License-Identifier: Apache-2.0
#include "sim/cosim/results.h"

#include <algorithm>
#include <cstring>

#include "hw/contract/error.h"

namespace npu::cosim {
namespace {

using contract::Element;
using contract::Opcode;

ResultArray pixels(const contract::Address& base, Element type, uint64_t h, uint64_t w, uint64_t c, int64_t row_stride,
                   int64_t pixel_stride) {
  ResultArray result;
  result.base = base;
  result.type = type;
  result.rank = 3;
  result.dims = {1, h, w, c};
  result.stride = {0, row_stride, pixel_stride, contract::element_bytes(type)};
  return result;
}

std::vector<ResultArray> stored_by(const contract::VpuEwiseCommand& command) {
  std::vector<ResultArray> results;
  for (uint32_t i = 0; i < command.operands.size(); ++i) {
    const bool stored = std::any_of(command.uops.begin(), command.uops.end(), [i](const contract::Uop& uop) {
      return uop.op == contract::UopCode::kStore && uop.b == i;
    });
    if (!stored) continue;
    ResultArray result;
    result.base = command.operands[i].base;
    result.type = command.operands[i].type;
    std::copy(command.dims.begin(), command.dims.end(), result.dims.begin());
    std::copy(command.operands[i].stride.begin(), command.operands[i].stride.end(), result.stride.begin());
    results.push_back(result);
  }
  return results;
}

ResultArray reduced(const contract::VpuReduceCommand& command) {
  ResultArray result;
  result.base = command.dst;
  result.type = command.op == contract::ReduceOp::kArgmax ? Element::kI32 : command.type;
  result.rank = 2;
  result.dims = {1, 1, command.outer, command.inner};
  result.stride = {0, 0, command.dst_outer_stride, contract::element_bytes(result.type)};
  return result;
}

}  // namespace

std::array<uint64_t, 4> ResultArray::index(uint64_t element) const {
  std::array<uint64_t, 4> index{};
  for (size_t i = dims.size(); i-- > 0; element /= dims[i]) index[i] = element % dims[i];
  return index;
}

int64_t ResultArray::offset(uint64_t element) const {
  const std::array<uint64_t, 4> at = index(element);
  int64_t offset = 0;
  for (size_t i = 0; i < at.size(); ++i) offset += static_cast<int64_t>(at[i]) * stride[i];
  return offset;
}

int64_t ResultArray::value(const uint8_t* bytes) const {
  uint64_t value = 0;
  std::memcpy(&value, bytes, element_bytes());
  const uint32_t unused = 64 - 8 * element_bytes();
  if (is_unsigned) return static_cast<int64_t>(value);
  return static_cast<int64_t>(value << unused) >> unused;
}

std::vector<ResultArray> results_of(std::span<const uint32_t> command) {
  switch (contract::Header::decode(command).opcode) {
    case Opcode::kMxu: {
      const auto mxu = contract::MxuCommand::decode(command);
      ResultArray result =
          pixels(mxu.dst, mxu.dst_type, mxu.out_h, mxu.out_w, mxu.out_c, mxu.dst_row_stride, mxu.dst_pixel_stride);
      result.is_unsigned = mxu.output_unsigned;
      return {result};
    }
    case Opcode::kVpuEwise:
      return stored_by(contract::VpuEwiseCommand::decode(command));
    case Opcode::kVpuPool: {
      const auto pool = contract::VpuPoolCommand::decode(command);
      return {pixels(pool.dst, pool.type, pool.out_h, pool.out_w, pool.channels, pool.dst_row_stride,
                     pool.dst_pixel_stride)};
    }
    case Opcode::kVpuReduce:
      return {reduced(contract::VpuReduceCommand::decode(command))};
    default:
      panic(__FILE__, __LINE__, "an engine accepted a command that is none of its own");
  }
}

}  // namespace npu::cosim
