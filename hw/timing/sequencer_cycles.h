// SPDX-License-Identifier: Apache-2.0
// What the sequencer takes for the stream, and how far its prefetch reads ahead.
#pragma once

#include <algorithm>
#include <cstdint>

#include "hw/contract/queues.h"
#include "hw/timing/cycles.h"

namespace npu::timing {

inline constexpr uint64_t kDecodedWordsPerCycle = 4;
// Of a command.
[[nodiscard]] constexpr uint64_t decode_cycles(uint64_t words) { return ceil_div(words, kDecodedWordsPerCycle); }

// What a branch takes beside its decoding once all queues are empty: nothing competes for the scratchpad's banks then.
// A condition: request, bank, data, comparison. A counter is also written back, in two cycles. With a branch that is
// taken come what memory takes to end the prefetch and to deliver the words at the target.
inline constexpr uint64_t kConditionCycles = 4;
inline constexpr uint64_t kCounterCycles = kConditionCycles + 2;

// Commands that were issued and have not completed: of DMA, and of the MXU and the VPU.
struct UnderWay {
  uint64_t transfers = 0, tiles = 0;

  // Of an engine's queue.
  constexpr void add(contract::Queue queue, uint64_t commands) {
    (contract::engine_of(queue) == contract::Engine::kDma ? transfers : tiles) += commands;
  }
};
// With as many, memory's time is mostly better spent on their data than on words that come too early: the prefetch asks
// for none. An engine whose next command is not among them waits longer for it.
[[nodiscard]] constexpr bool prefetch_pauses(const UnderWay& under_way) {
  return under_way.transfers >= 3 && under_way.tiles >= 2 && under_way.transfers + under_way.tiles >= 8;
}

inline constexpr uint32_t kPrefetchBytes = 8192;
// With so many bytes before it, asked for or here, the sequencer does not wait soon, but the data of the commands that
// it has started may: so memory owes the prefetch no more than these bursts then, behind which a transfer would queue.
inline constexpr uint32_t kPrefetchEnoughBytes = 512;
inline constexpr uint64_t kPrefetchMostBursts = 2;
// Bursts that memory may owe the prefetch with so many bytes before the sequencer, and commands behind it.
[[nodiscard]] constexpr uint64_t prefetch_bursts(uint64_t ahead, const UnderWay& under_way, uint64_t dma_outstanding) {
  if (prefetch_pauses(under_way)) return 0;
  return ahead >= kPrefetchEnoughBytes ? std::min(kPrefetchMostBursts, dma_outstanding) : dma_outstanding;
}

}  // namespace npu::timing
