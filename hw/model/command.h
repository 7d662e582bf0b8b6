// SPDX-License-Identifier: Apache-2.0
// A command on its way through the device: decoded once by the sequencer, then queued to its unit.
#pragma once

#include <array>
#include <cstdint>
#include <variant>
#include <vector>

#include "hw/contract/gen/commands.h"
#include "hw/engine/tile.h"
#include "hw/model/byte_set.h"

namespace npu::model {

// Where an address points to and how far it may reach: bytes [0, limit) from `base` in memory `space`.
struct Window {
  contract::ErrorCode error = contract::ErrorCode::kOk;
  contract::Space space = contract::Space::kNone;
  uint64_t base = 0;
  uint64_t limit = 0;
};

inline constexpr uint32_t kMxuQueue = static_cast<uint32_t>(contract::Queue::kMxu);
inline constexpr uint32_t kVpuQueue = static_cast<uint32_t>(contract::Queue::kVpu);
inline constexpr uint32_t kSequencerQueue = static_cast<uint32_t>(contract::Queue::kSequencer);

// Bytes by memory.
struct Traffic {
  uint64_t spm_read = 0, spm_written = 0;
  uint64_t dram_read = 0, dram_written = 0;
  uint64_t psram_read = 0, psram_written = 0;

  void moved(contract::Space space, bool read, uint64_t bytes) {
    if (space != contract::Space::kNone) of(space, read) += bytes;
  }
  // A memory's.
  uint64_t& of(contract::Space space, bool read) {
    if (space == contract::Space::kScratchpad) return read ? spm_read : spm_written;
    if (space == contract::Space::kDram) return read ? dram_read : dram_written;
    return read ? psram_read : psram_written;
  }
  Traffic& operator+=(const Traffic& other) {
    spm_read += other.spm_read;
    spm_written += other.spm_written;
    dram_read += other.dram_read;
    dram_written += other.dram_written;
    psram_read += other.psram_read;
    psram_written += other.psram_written;
    return *this;
  }
  [[nodiscard]] uint64_t read() const { return spm_read + dram_read + psram_read; }
  [[nodiscard]] uint64_t written() const { return spm_written + dram_written + psram_written; }
};

// Tokens as absolute counts: element q is how many commands of queue q must have completed.
using TokenTargets = std::array<uint32_t, contract::kEngineQueues>;

// What a command does to a variable. Where the bytes lie is settled when the command is issued: of a variable with two
// places, writes that are complete by then in the order of the stream count, even if they are still to be executed.
struct VariableUse {
  uint16_t index = 0;  // in the table
  engine::Access access = engine::Access::kRead;
  bool commit = false;  // with this command the write is complete
  Window window;
  ByteSet bytes;
};

// A command for an engine that does nothing but take its place (`skip` of its header).
struct Skipped {};

// A command that was checked: what the sequencer executes itself, what DMA does, and tiles of engines.
using DecodedCommand =
    std::variant<contract::BeginCommand, contract::EndCommand, contract::DeclareCommand, contract::YieldCommand,
                 contract::LabelCommand, contract::BranchCommand, contract::DmaCommand, engine::Tile, Skipped>;

// What a unit's FIFO holds.
struct IssuedCommand {
  uint32_t index = 0;  // in the stream
  contract::Header header;
  TokenTargets targets{};
  uint64_t issued_cycle = 0;
  Traffic asked;  // from the command's fields
  std::vector<VariableUse> variables;
  engine::Tile tile;         // of an engine's command
  contract::DmaCommand dma;  // of a DMA command, with what its addresses resolved to
  Window dma_src, dma_dst, dma_index;
};

}  // namespace npu::model
