// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/schedule/segments.h"

#include <algorithm>
#include <cmath>

#include "driver/compiler/schedule/estimate.h"
#include "hw/contract/gen/commands.h"

namespace npu::compiler::backend {
namespace {

using contract::DmaCommand;
using contract::Queue;
using contract::Region;

constexpr int64_t kAlignment = 16;        // bytes
constexpr size_t kStreamWords = 16;       // streams begin at multiples
constexpr int64_t kNearBytes = 256;       // bytes that take less time than another command
constexpr size_t kMostSegmentPieces = 8;  // of a segment: bounds the length of its streams
// Dead bytes that are moved too, as a part of the live ones: to join pieces, and to share streams.
constexpr int64_t kJoinPart = 8, kSharePart = 4;
constexpr size_t kSharesTried = 8;
constexpr int64_t kLoadUnit = 64;  // bytes: what the channels load ends with whole bursts

// A piece of a stream that only moves bytes.
struct Move {
  contract::Address from, to;
  int64_t bytes = 0;
};

class MoveStreamWriter {
 public:
  MoveStreamWriter(const contract::Capabilities& capabilities, Program& program)
      : capabilities_(capabilities), program_(program) {}

  // Where a stream lies, and what it takes.
  struct Written {
    uint32_t word = 0, words = 0, cycles = 0;
  };
  Written write(const std::vector<Move>& moves, uint32_t layer) {
    std::vector<uint32_t>& words = program_.commands;
    words.resize((words.size() + kStreamWords - 1) / kStreamWords * kStreamWords);
    const size_t start = words.size();
    contract::BeginCommand begin;
    begin.header.queue = Queue::kSequencer;
    begin.header.layer = layer;
    begin.major = contract::kContractMajor;
    begin.minor = contract::kContractMinor;
    begin.caps_hash = program_.caps_hash;
    begin.command_count = static_cast<uint32_t>(moves.size()) + 2;
    begin.encode(words);
    std::vector<int64_t> load(capabilities_.dma_channels);
    std::vector<Command> commands;
    for (const Move& move : moves) {
      const auto channel = std::min_element(load.begin(), load.end());
      DmaCommand copy;
      copy.header.queue = contract::dma_queue(static_cast<size_t>(channel - load.begin()));
      copy.header.layer = layer;
      copy.src = move.from;
      copy.dst = move.to;
      copy.run_bytes = static_cast<uint32_t>(move.bytes);
      copy.count.fill(1);
      copy.encode(words);
      commands.push_back({copy});
      *channel += move.bytes;
    }
    contract::EndCommand end;
    end.header.queue = Queue::kSequencer;
    end.header.layer = layer;
    end.encode(words);
    return {static_cast<uint32_t>(start), static_cast<uint32_t>(words.size() - start),
            static_cast<uint32_t>(std::ceil(estimate_timeline(commands, {}, capabilities_).cycles()))};
  }

 private:
  const contract::Capabilities& capabilities_;
  Program& program_;
};

// Of pieces of the scratchpad, one behind the other in region `save`.
std::vector<Move> moves_of(const std::vector<ByteSpan>& pieces, bool save) {
  std::vector<Move> moves;
  int64_t offset = 0;
  for (const ByteSpan& piece : pieces) {
    Move move{{static_cast<uint32_t>(piece.low), Region::kScratchpad, 0},
              {static_cast<uint32_t>(offset), Region::kSave, 0},
              piece.high - piece.low};
    if (!save) std::swap(move.from, move.to);
    moves.push_back(move);
    offset += move.bytes;
  }
  return moves;
}

int64_t bytes_of(const std::vector<ByteSpan>& spans) {
  int64_t bytes = 0;
  for (const ByteSpan& span : spans) bytes += span.high - span.low;
  return bytes;
}

// Joins what is at most `gap` bytes apart. Ascending.
std::vector<ByteSpan> joined(const std::vector<ByteSpan>& pieces, int64_t gap) {
  std::vector<ByteSpan> out;
  for (const ByteSpan& piece : pieces) {
    if (!out.empty() && piece.low - out.back().high <= gap) {
      out.back().high = std::max(out.back().high, piece.high);
    } else {
      out.push_back(piece);
    }
  }
  return out;
}

std::vector<ByteSpan> united(const std::vector<ByteSpan>& a, const std::vector<ByteSpan>& b) {
  std::vector<ByteSpan> both(a.size() + b.size());
  std::merge(a.begin(), a.end(), b.begin(), b.end(), both.begin(),
             [](const ByteSpan& x, const ByteSpan& y) { return x.low < y.low; });
  return joined(both, 0);
}

// Streams that serve several segments of a layer.
struct Share {
  std::vector<ByteSpan> pieces;
  int64_t least = 0;  // live bytes of the segment that has the fewest
  Segment streams;
};

// The newest share that adds little to any segment in it when it takes in `own`, or else a new one. Tile buffers take
// turns, so that segments are often alike that do not follow each other.
size_t find_share(const std::vector<ByteSpan>& own, std::vector<Share>& shares) {
  const int64_t bytes = bytes_of(own);
  for (size_t tried = 0; tried < std::min(kSharesTried, shares.size()); ++tried) {
    const size_t i = shares.size() - 1 - tried;
    Share& share = shares[i];
    const int64_t least = std::min(share.least, bytes);
    std::vector<ByteSpan> all = pieces_of(united(share.pieces, own));
    if (bytes_of(all) > least + least / kSharePart) continue;
    share.pieces = std::move(all);
    share.least = least;
    return i;
  }
  shares.push_back({own, bytes, {}});
  return shares.size() - 1;
}

void write_streams(Share& share, uint32_t layer, MoveStreamWriter& writer) {
  if (share.pieces.empty()) return;
  Segment& streams = share.streams;
  streams.live_bytes = static_cast<uint32_t>(bytes_of(share.pieces));
  const MoveStreamWriter::Written save = writer.write(moves_of(share.pieces, true), layer);
  const MoveStreamWriter::Written restore = writer.write(moves_of(share.pieces, false), layer);
  streams.save_word = save.word;
  streams.save_words = save.words;
  streams.save_cycles = save.cycles;
  streams.restore_word = restore.word;
  streams.restore_words = restore.words;
  streams.restore_cycles = restore.cycles;
}

}  // namespace

std::vector<ByteSpan> pieces_of(const std::vector<ByteSpan>& live) {
  std::vector<ByteSpan> pieces;
  pieces.reserve(live.size());
  for (const ByteSpan& span : live) {
    pieces.push_back({span.low / kAlignment * kAlignment, round_up(span.high, kAlignment)});
  }
  pieces = joined(pieces, kNearBytes);
  std::vector<int64_t> gaps;
  for (size_t i = 1; i < pieces.size(); ++i) gaps.push_back(pieces[i].low - pieces[i - 1].high);
  std::sort(gaps.begin(), gaps.end());
  int64_t widest = 0, spare = bytes_of(pieces) / kJoinPart;
  for (size_t i = 0; i < gaps.size(); ++i) {
    spare -= gaps[i];
    if (spare < 0 && pieces.size() - i <= kMostSegmentPieces) break;
    widest = gaps[i];
  }
  return joined(pieces, widest);
}

void add_segment_streams(const std::vector<std::vector<ByteSpan>>& live, std::span<const uint32_t> layers,
                         const contract::Capabilities& capabilities, Program& program) {
  MoveStreamWriter writer(capabilities, program);
  for (size_t first = 0; first < live.size();) {
    size_t end = first;
    while (end < live.size() && layers[end] == layers[first]) ++end;
    std::vector<Share> shares;
    std::vector<size_t> share_of;
    for (size_t i = first; i < end; ++i) share_of.push_back(find_share(pieces_of(live[i]), shares));
    for (Share& share : shares) write_streams(share, layers[first], writer);
    for (; first < end; ++first) {
      Segment& segment = program.segments[first];
      const Segment own = segment;
      segment = shares[share_of[share_of.size() - (end - first)]].streams;
      segment.yield_word = own.yield_word;
      segment.cycles = own.cycles;
      program.save_bytes = std::max(program.save_bytes, segment.live_bytes);
    }
  }
}

void add_load_stream(const contract::Capabilities& capabilities, Program& program) {
  const auto bytes = static_cast<int64_t>(program.constants.size());
  const int64_t part = round_up(ceil_div(bytes, capabilities.dma_channels), kLoadUnit);
  std::vector<Move> moves;
  for (int64_t at = 0; at < bytes; at += part) {
    const auto offset = static_cast<uint32_t>(at);
    moves.push_back({{offset, Region::kConstants, 0}, {offset, Region::kResident, 0}, std::min(part, bytes - at)});
  }
  const MoveStreamWriter::Written load = MoveStreamWriter(capabilities, program).write(moves, 0);
  program.resident_bytes = static_cast<uint32_t>(bytes);
  program.load_word = load.word;
  program.load_words = load.words;
  program.load_cycles = load.cycles;
}

}  // namespace npu::compiler::backend
