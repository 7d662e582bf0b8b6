// SPDX-License-Identifier: Apache-2.0
#include "hw/model/validate.h"

#include <algorithm>
#include <utility>

#include "hw/contract/dma_sides.h"
#include "hw/contract/overloaded.h"

namespace npu::model {

namespace {

using contract::ErrorCode;
using contract::Queue;

bool exists(uint32_t queue, const contract::Capabilities& caps) {
  return queue < caps.dma_channels || queue == kMxuQueue || queue == kVpuQueue;
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

// Issued on queue `sequencer`, without tokens.
bool is_plain(const contract::Header& header) {
  const auto none = [](uint8_t tokens) { return tokens == 0; };
  return header.queue == Queue::kSequencer && std::all_of(header.wait.begin(), header.wait.end(), none);
}
bool fields_ok(const contract::YieldCommand& command, const contract::Capabilities&) {
  return is_plain(command.header);
}
bool fields_ok(const contract::LabelCommand& command, const contract::Capabilities&) {
  return is_plain(command.header);
}
bool fields_ok(const contract::BranchCommand& command, const contract::Capabilities&) {
  return is_plain(command.header) && known(command.mode);
}

// Of a gather or scatter: the channel has room for them, and each lies in a word.
bool indices_ok(const contract::DmaCommand& dma) {
  return contract::index_count(dma) <= contract::kDmaIndices &&
         dma.index.offset % contract::element_bytes(contract::Element::kI32) == 0;
}

bool fields_ok(const contract::DmaCommand& dma, const contract::Capabilities& caps) {
  if (static_cast<uint32_t>(dma.header.queue) >= caps.dma_channels || !known(dma.mode)) return false;
  if (dma.run_bytes == 0 || !std::all_of(dma.count.begin(), dma.count.end(), [](uint32_t n) { return n > 0; })) {
    return false;
  }
  const uint32_t pattern = dma.fill_bytes;
  const bool no_index = dma.index == contract::Address{};
  switch (dma.mode) {
    case contract::DmaMode::kCopy:
      return no_index;
    case contract::DmaMode::kFill:
      return no_index && (pattern == 1 || pattern == 2 || pattern == 4 || pattern == 8) && dma.run_bytes % pattern == 0;
    case contract::DmaMode::kGather:
      return indices_ok(dma) && dma.src_stride[contract::kDmaIndexDim] == 0 &&
             dma.dst_stride[contract::kDmaChoices] == 0;
    case contract::DmaMode::kScatter:
      return indices_ok(dma) && dma.src_stride[contract::kDmaChoices] == 0 &&
             dma.dst_stride[contract::kDmaIndexDim] == 0;
  }
  return false;
}

template <typename Command>
ErrorCode check(const Command& command, const contract::Capabilities& caps, DecodedCommand& decoded) {
  if (!fields_ok(command, caps)) return ErrorCode::kFaultBadCommand;
  decoded = command;
  return ErrorCode::kOk;
}

template <typename Command>
ErrorCode check_tile(Command command, Queue queue, const contract::Capabilities& caps, DecodedCommand& decoded) {
  if (command.header.queue != queue) return ErrorCode::kFaultBadCommand;
  auto& tile = decoded.emplace<engine::Tile>();
  const ErrorCode error = engine::make_tile(std::move(command), tile);
  if (error != ErrorCode::kOk) return error;
  return engine::can_run(caps, tile) ? ErrorCode::kOk : ErrorCode::kFaultBadCommand;
}

}  // namespace

ErrorCode check_command(std::span<const uint32_t> words, const contract::Capabilities& caps, DecodedCommand& decoded) {
  if (!contract::well_formed(words) || !contract::reserved_zero(words)) return ErrorCode::kFaultBadCommand;
  const contract::Header header = contract::Header::decode(words);
  if (header.core != 0) return ErrorCode::kFaultBadCommand;
  contract::AnyCommand command = contract::decode_command(words);
  const ErrorCode error = std::visit(
      Overloaded{
          [&](contract::BeginCommand& begin) { return check(begin, caps, decoded); },
          [&](contract::EndCommand& end) { return check(end, caps, decoded); },
          [&](contract::DeclareCommand& declare) { return check(declare, caps, decoded); },
          [&](contract::YieldCommand& yield) { return check(yield, caps, decoded); },
          [&](contract::LabelCommand& label) { return check(label, caps, decoded); },
          [&](contract::BranchCommand& branch) { return check(branch, caps, decoded); },
          [&](contract::DmaCommand& dma) { return check(dma, caps, decoded); },
          [&](contract::MxuCommand& mxu) { return check_tile(mxu, Queue::kMxu, caps, decoded); },
          [&](contract::VpuEwiseCommand& ewise) { return check_tile(std::move(ewise), Queue::kVpu, caps, decoded); },
          [&](contract::VpuPoolCommand& pool) { return check_tile(pool, Queue::kVpu, caps, decoded); },
          [&](contract::VpuReduceCommand& reduce) { return check_tile(reduce, Queue::kVpu, caps, decoded); },
      },
      command);
  if (error != ErrorCode::kOk) return error;
  for (uint32_t queue = 0; queue < header.wait.size(); ++queue) {
    if (header.wait[queue] > 0 && !exists(queue, caps)) return ErrorCode::kFaultToken;
  }
  return ErrorCode::kOk;
}

}  // namespace npu::model
