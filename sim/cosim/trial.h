// SPDX-License-Identifier: Apache-2.0
// One block of RTL against what the program says about it, on random work: a tile for an engine, a descriptor for the
// DMA's walk, accesses and operations for a memory. Every trial is a function of its seed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "hw/contract/gen/capabilities.h"
#include "sim/cosim/bundle.h"

namespace npu::cosim {

enum class Block : uint8_t { kMxu, kVpu, kDma, kScratchpad, kPersistentSram };
inline constexpr Block kBlocks[] = {Block::kMxu, Block::kVpu, Block::kDma, Block::kScratchpad, Block::kPersistentSram};
[[nodiscard]] std::string_view name(Block block);  // "mxu", "vpu", "dma", "scratchpad", "persistent_sram"

struct Trial {
  std::string kind;                      // what trials are counted by: "conv int8", "ewise", "copy", ...
  std::string text;                      // all of it in words
  uint64_t compared = 0, differing = 0;  // elements of results; bytes or beats of a memory
  // With ideal memory the formula's cycles, held back those of the schedule under the same grants.
  uint64_t expected_cycles = 0, rtl_cycles = 0;
  // Held back by competitors on the device's crossbar, what the device counts.
  std::optional<uint64_t> device_cycles;
  std::string difference;        // in bits, in words; empty: none
  std::string port_difference;   // in the cycles of requests, in words; empty: none
  std::optional<Bundle> bundle;  // of an engine's tile with a difference

  // Something differs; the first is kept in words.
  void note(std::string what, uint64_t count = 1) {
    differing += count;
    if (difference.empty()) difference = std::move(what);
  }
  [[nodiscard]] bool passed() const {
    return difference.empty() && port_difference.empty() && rtl_cycles == expected_cycles;
  }
};

// The trials of one block; not for several threads at once.
class Trials {
 public:
  virtual ~Trials() = default;
  // `held_back`: memory does not grant each request at once, by a trace that follows from the seed too.
  [[nodiscard]] virtual Trial run(uint64_t seed, bool held_back) = 0;
};

// Throws npu::Error as make_rtl_engine does.
[[nodiscard]] std::unique_ptr<Trials> make_trials(Block block, const contract::Capabilities& caps);

}  // namespace npu::cosim
