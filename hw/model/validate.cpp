// SPDX-License-Identifier: Apache-2.0
#include "hw/model/validate.h"

#include <algorithm>

namespace npu::model {

namespace {

using contract::Element;
using contract::ErrorCode;
using contract::Queue;
using contract::UopCode;

bool exists(uint32_t queue, const contract::Capabilities& caps) {
  return queue < caps.dma_channels || queue == kMxuQueue || queue == kVpuQueue;
}

bool all_positive(std::initializer_list<uint32_t> values) {
  return std::all_of(values.begin(), values.end(), [](uint32_t value) { return value > 0; });
}

bool fields_ok(const contract::BeginCommand& command, const contract::Capabilities&) {
  return command.header.queue == Queue::kSequencer;
}
bool fields_ok(const contract::EndCommand& command, const contract::Capabilities&) {
  return command.header.queue == Queue::kSequencer;
}
bool fields_ok(const contract::DeclareCommand& command, const contract::Capabilities&) {
  return command.header.queue == Queue::kSequencer;
}
bool fields_ok(const contract::YieldCommand& command, const contract::Capabilities&) {
  const auto none = [](uint8_t tokens) { return tokens == 0; };
  return command.header.queue == Queue::kSequencer &&
         std::all_of(command.header.wait.begin(), command.header.wait.end(), none);
}

bool fields_ok(const contract::DmaCommand& dma, const contract::Capabilities& caps) {
  if (static_cast<uint32_t>(dma.header.queue) >= caps.dma_channels || !known(dma.mode)) return false;
  if (dma.run_bytes == 0 || !std::all_of(dma.count.begin(), dma.count.end(), [](uint32_t n) { return n > 0; })) {
    return false;
  }
  if (dma.mode == contract::DmaMode::kCopy) return true;
  const uint32_t pattern = dma.fill_bytes;
  return (pattern == 1 || pattern == 2 || pattern == 4 || pattern == 8) && dma.run_bytes % pattern == 0;
}

bool fields_ok(const contract::MxuCommand& mxu, const contract::Capabilities&) {
  if (mxu.header.queue != Queue::kMxu || !known(mxu.mode) || !known(mxu.rescale)) return false;
  if (!known(mxu.src_type) || !known(mxu.weight_type) || !known(mxu.dst_type)) return false;
  if (!all_positive({mxu.in_h, mxu.in_w, mxu.in_c, mxu.out_h, mxu.out_w, mxu.out_c})) return false;
  if (mxu.mode == contract::MxuMode::kMatmul) return true;
  if (!all_positive({mxu.kernel_h, mxu.kernel_w, mxu.stride_y, mxu.stride_x, mxu.dilation_y, mxu.dilation_x})) {
    return false;
  }
  return mxu.mode == contract::MxuMode::kConv || uint64_t{mxu.in_c} * mxu.multiplier == mxu.out_c;
}

// Registers and operands that a micro-operation names must exist; streams are loaded and stored, and a block or table
// is as long as the operation needs.
bool uop_ok(const contract::VpuEwiseCommand& command, const contract::Uop& uop) {
  if (!known(uop.op)) return false;
  const auto is_register = [&](uint32_t index) { return index < command.register_count; };
  const auto is_stream = [&](uint32_t index) {
    return index < command.operands.size() && command.operands[index].bytes == 0;
  };
  const auto is_block = [&](uint32_t index, uint64_t bytes) {
    return index < command.operands.size() && command.operands[index].bytes >= bytes;
  };
  switch (uop.op) {
    case UopCode::kLoad:
      return is_register(uop.dst) && is_stream(uop.a);
    case UopCode::kStore:
      return is_register(uop.a) && is_stream(uop.b);
    case UopCode::kRescale: {
      const bool per_channel = (uop.imm0 >> 8 & 1) != 0;
      const uint64_t entries = per_channel ? command.dims[3] : 1;
      return is_register(uop.dst) && is_register(uop.a) &&
             is_block(uop.b, contract::ParameterHeader::kBytes + entries * contract::ParameterEntry::kBytes);
    }
    case UopCode::kTable8:
      return is_register(uop.dst) && is_register(uop.a) && is_block(uop.b, 256);
    case UopCode::kTable16:
      return is_register(uop.dst) && is_register(uop.a) && is_block(uop.b, 513 * 2);
    case UopCode::kClamp:
    case UopCode::kAbs:
    case UopCode::kClz:
    case UopCode::kBitNot:
    case UopCode::kLogicalNot:
      return is_register(uop.dst) && is_register(uop.a);
    case UopCode::kCast:
      return is_register(uop.dst) && is_register(uop.a) && known(static_cast<Element>(uop.imm0));
    case UopCode::kNegate:
      return is_register(uop.dst) && is_register(uop.a) && known(static_cast<Element>(uop.b));
    case UopCode::kShl:
    case UopCode::kShrLogical:
      return is_register(uop.dst) && is_register(uop.a) && is_register(uop.b) && known(static_cast<Element>(uop.imm0));
    case UopCode::kSelect:
      return is_register(uop.dst) && is_register(uop.a) && is_register(uop.b) && uop.imm0 >= 0 &&
             is_register(static_cast<uint32_t>(uop.imm0));
    default:
      return is_register(uop.dst) && is_register(uop.a) && is_register(uop.b);
  }
}

bool fields_ok(const contract::VpuEwiseCommand& command, const contract::Capabilities&) {
  if (command.header.queue != Queue::kVpu) return false;
  if (!std::all_of(command.dims.begin(), command.dims.end(), [](uint32_t n) { return n > 0; })) return false;
  for (const contract::Operand& operand : command.operands) {
    if (!known(operand.type)) return false;
  }
  bool stores = false;
  for (const contract::Uop& uop : command.uops) {
    if (!uop_ok(command, uop)) return false;
    stores |= uop.op == UopCode::kStore;
  }
  return stores;
}

bool fields_ok(const contract::VpuPoolCommand& pool, const contract::Capabilities&) {
  return pool.header.queue == Queue::kVpu && known(pool.mode) && known(pool.type) &&
         all_positive({pool.in_h, pool.in_w, pool.channels, pool.out_h, pool.out_w, pool.kernel_h, pool.kernel_w,
                       pool.stride_y, pool.stride_x});
}

bool fields_ok(const contract::VpuReduceCommand& reduce, const contract::Capabilities&) {
  return reduce.header.queue == Queue::kVpu && known(reduce.op) && known(reduce.type) &&
         all_positive({reduce.outer, reduce.axis, reduce.inner});
}

}  // namespace

ErrorCode check_command(std::span<const uint32_t> words, const contract::Capabilities& caps,
                        contract::AnyCommand& decoded) {
  if (!contract::well_formed(words) || !contract::reserved_zero(words)) return ErrorCode::kFaultBadCommand;
  const contract::Header header = contract::Header::decode(words);
  if (header.core != 0) return ErrorCode::kFaultBadCommand;
  decoded = contract::decode_command(words);
  if (!std::visit([&](const auto& command) { return fields_ok(command, caps); }, decoded)) {
    return ErrorCode::kFaultBadCommand;
  }
  for (uint32_t queue = 0; queue < header.wait.size(); ++queue) {
    if (header.wait[queue] > 0 && !exists(queue, caps)) return ErrorCode::kFaultToken;
  }
  return ErrorCode::kOk;
}

}  // namespace npu::model
