// SPDX-License-Identifier: Apache-2.0
// Model and RTL on the same tile, compared in every byte of the result and in their cycles.
//
// The RTL runs first, on the real memory; what it wrote is then taken out and the old bytes put back, so both see the
// same memory, also where a result takes the place of an operand. What the model computes stays.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hw/contract/gen/commands.h"
#include "hw/engine/engine.h"
#include "sim/cosim/rtl_engine.h"

namespace npu::cosim {

// Bytes of one memory from an offset of its region (of its variable, where it has many).
struct MemoryBlock {
  contract::Region region = contract::Region::kScratchpad;
  uint16_t variable = 0;
  uint32_t offset = 0;
  std::vector<uint8_t> bytes;

  friend bool operator==(const MemoryBlock&, const MemoryBlock&) = default;
};

// What one tile did on both.
struct Comparison {
  contract::ErrorCode model_error = contract::ErrorCode::kOk, rtl_error = contract::ErrorCode::kOk;
  uint64_t model_cycles = 0, rtl_cycles = 0;  // 0 when not timed
  uint64_t elements = 0, differing = 0;
  std::string difference;       // the first one in words; empty: none
  std::string port_difference;  // where the RTL's requests first left their schedule, in words; no reason to stop
  // Filled in when there is a difference:
  std::vector<MemoryBlock> memory;     // what the tile reads or writes, as it was before
  std::vector<uint8_t> expected, got;  // results of model and RTL, element by element

  [[nodiscard]] bool equal() const { return difference.empty(); }
};

class Lockstep {
 public:
  Lockstep(std::unique_ptr<engine::Engine> model, std::unique_ptr<RtlEngine> rtl);
  ~Lockstep();
  // Of the model, whatever the RTL does; read comparison() then.
  engine::TileResult run(const engine::Tile& tile, engine::MemoryView& memory, bool timed);
  // Of words that are still to be checked.
  engine::TileResult run(std::span<const uint32_t> command, engine::MemoryView& memory, bool timed);
  [[nodiscard]] const Comparison& comparison() const { return comparison_; }
  // With it, memory and both results are kept of every tile, not only of those that differ.
  void keep_always(bool keep) { keep_always_ = keep; }

 private:
  class Recorder;

  std::unique_ptr<engine::Engine> model_;
  std::unique_ptr<RtlEngine> rtl_;
  std::unique_ptr<Recorder> recorder_;
  Comparison comparison_;
  bool keep_always_ = false;
};

}  // namespace npu::cosim
