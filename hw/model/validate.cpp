// SPDX-License-Identifier: Apache-2.0
#include "hw/model/validate.h"

#include <algorithm>
#include <utility>

#include "hw/contract/dma_sides.h"
#include "hw/contract/overloaded.h"
#include "hw/contract/queues.h"

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

template <contract::TileCommand Command>
ErrorCode check_tile(Command& command, const contract::Capabilities& caps, DecodedCommand& decoded) {
  if (command.header.queue != Command::kQueue) return ErrorCode::kFaultBadCommand;
  auto& tile = decoded.emplace<engine::Tile>();
  const ErrorCode error = engine::make_tile(std::move(command), tile);
  if (error != ErrorCode::kOk) return error;
  return engine::can_run(caps, tile) ? ErrorCode::kOk : ErrorCode::kFaultBadCommand;
}

ErrorCode check_tokens(const contract::Header& header, const contract::Capabilities& caps) {
  for (uint32_t queue = 0; queue < header.wait.size(); ++queue) {
    if (header.wait[queue] > 0 && !exists(queue, caps)) return ErrorCode::kFaultToken;
  }
  return ErrorCode::kOk;
}

// What else it says does not count.
ErrorCode check_skipped(const contract::Header& header, const contract::Capabilities& caps, DecodedCommand& decoded) {
  if (!exists(static_cast<uint32_t>(header.queue), caps)) return ErrorCode::kFaultBadCommand;
  decoded = Skipped{};
  return check_tokens(header, caps);
}

}  // namespace

ErrorCode check_command(std::span<const uint32_t> words, const contract::Capabilities& caps, DecodedCommand& decoded) {
  if (!contract::well_formed(words) || !contract::reserved_zero(words)) return ErrorCode::kFaultBadCommand;
  const contract::Header header = contract::Header::decode(words);
  if (header.core != 0) return ErrorCode::kFaultBadCommand;
  if (header.skip) return check_skipped(header, caps, decoded);
  contract::AnyCommand command = contract::decode_command(words);
  const ErrorCode error =
      std::visit(Overloaded{
                     [&]<contract::TileCommand Command>(Command& tile) { return check_tile(tile, caps, decoded); },
                     [&](auto& other) { return check(other, caps, decoded); },
                 },
                 command);
  if (error != ErrorCode::kOk) return error;
  return check_tokens(header, caps);
}

}  // namespace npu::model
