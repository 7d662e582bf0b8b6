// SPDX-License-Identifier: Apache-2.0
// A stream for 1 to 64 rows of 64 bytes, written by hand: two tiles of 32 rows go through the scratchpad, and the
// second one is skipped where there are no rows for it. Sizes: "x.0", and the bytes of all rows as a result.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "driver/compiler/patches.h"
#include "driver/compiler/program.h"
#include "driver/compiler/size_table.h"
#include "tests/unit/compiler/size_rule.h"
#include "tests/unit/model/stream.h"

namespace npu::firmware_test {

struct SizedStream {
  static constexpr int32_t kRows = 64, kTileRows = 32, kRowBytes = 64;

  std::vector<uint32_t> words;  // of the largest size
  compiler::SizeTable table;
  uint32_t commands = 0;
  uint32_t yield_word = 0;  // between the tiles, where nothing is live
  std::vector<compiler::Patch> patches;
};

struct SizedStreamOptions {
  bool yields = false;         // once, as segment 0
  uint32_t passes = 1;         // how often each tile moves, so that it takes longer
  uint32_t variable_hash = 0;  // of variable 0, of which the first 4 bytes go behind the rows first; 0: none
};

namespace sized_stream {

// The word of an encoded transfer that a change of it shows in, and its bits that change.
struct Shown {
  uint32_t word = 0, bits = 0;
};
template <typename Change>
Shown shown_by(Change change) {
  std::vector<uint32_t> before, after;
  contract::DmaCommand command = model::testing::copy(0, model::testing::dram(0), model::testing::spm(0), 1);
  command.encode(before);
  change(command);
  command.encode(after);
  for (uint32_t i = 0; i < before.size(); ++i) {
    if (before[i] != after[i]) return {i, before[i] ^ after[i]};
  }
  return {};
}

}  // namespace sized_stream

// From region `from` to region `to`, both from byte 0.
inline SizedStream sized_stream_of(const contract::Capabilities& caps, contract::Region from, contract::Region to,
                                   const SizedStreamOptions& options = {}) {
  namespace mt = model::testing;
  using compiler::testing::rule_of;
  constexpr int32_t kTile = SizedStream::kTileRows, kRow = SizedStream::kRowBytes;
  constexpr uint32_t kTileBytes = kTile * kRow;
  const auto size = sized_stream::shown_by([](contract::DmaCommand& dma) { dma.run_bytes = 2; });
  const auto skip = sized_stream::shown_by([](contract::DmaCommand& dma) { dma.header.skip = true; });

  SizedStream made;
  mt::Stream stream(caps);
  std::array<std::vector<uint32_t>, 2> sizes;  // words, by tile
  std::vector<uint32_t> skips;
  uint32_t place = contract::BeginCommand::kWords;
  const auto transfer = [&](uint32_t tile, const contract::DmaCommand& command, mt::Tokens tokens) {
    stream.add(command, tokens);
    sizes[tile].push_back(place + size.word);
    if (tile == 1) skips.push_back(place + skip.word);
    place += contract::DmaCommand::kWords;
  };
  if (options.variable_hash != 0) {
    contract::DeclareCommand declare;
    declare.header.queue = contract::Queue::kSequencer;
    declare.hash = options.variable_hash;
    compiler::add_patches(declare, place, made.patches);
    stream.add(declare);
    place += contract::DeclareCommand::kWords;
    const contract::DmaCommand read = mt::copy(0, mt::variable(0), mt::at(to, SizedStream::kRows * kRow), 4);
    compiler::add_patches(read, place, made.patches);
    stream.add(read);
    place += contract::DmaCommand::kWords;
  }
  for (uint32_t tile = 0; tile < 2; ++tile) {
    const uint32_t offset = tile * kTileBytes;
    if (tile == 1 && options.yields) {
      made.yield_word = place;
      stream.yield(0);
      place += contract::YieldCommand::kWords;
    }
    for (uint32_t pass = 0; pass < options.passes; ++pass) {
      transfer(tile, mt::copy(0, mt::at(from, offset), mt::spm(offset), kTileBytes), {{1, 1}});
      transfer(tile, mt::copy(1, mt::spm(offset), mt::at(to, offset), kTileBytes), {{0, 1}});
    }
  }
  made.words = stream.finish();
  made.commands = stream.count();
  made.table.symbols = {{"x.0", 1, SizedStream::kRows}};
  made.table.expressions = {{contract::SizeOperation::kConstant, 0, kRow}, {contract::SizeOperation::kMul, 0, 1}};
  made.table.results = {0, 2};
  const uint32_t header = made.words[skips.front()];
  made.table.rules = {
      rule_of(0, {{1, kRow, 0}, {kTile, 0, kTileBytes}}, sizes[0]),
      rule_of(0, {{1, 0, kRow}, {kTile + 1, kRow, -int32_t{kTileBytes}}}, sizes[1]),
      rule_of(0, {{1, 0, static_cast<int32_t>(header | skip.bits)}, {kTile + 1, 0, static_cast<int32_t>(header)}},
              skips),
  };
  return made;
}

}  // namespace npu::firmware_test
