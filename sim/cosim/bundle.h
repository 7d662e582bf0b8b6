// SPDX-License-Identifier: Apache-2.0
// A replay bundle: one tile in a folder, so that model and RTL can run it again anywhere.
//
//   tile.json     what it is: engine, machine, command words, where it came from, what was found
//   memory-N.bin  the bytes that the tile reads or writes, as they were before it, a file a region
//   expected.bin  the model's results, element by element; got.bin: the RTL's
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "hw/contract/gen/capabilities.h"
#include "sim/cosim/lockstep.h"

namespace npu::cosim {

struct Bundle {
  Unit unit = Unit::kMxu;
  contract::Capabilities caps;
  std::vector<uint32_t> command;
  uint64_t invocation = 0, tile = 0;  // tile: of its layer and engine in that invocation
  // Where it came from, in words; filled in by who knows.
  std::string network, layer, operators, seed;
  Comparison found;
};

// The folder must not exist; it appears when it is complete. Throws npu::Error (cannot_write).
void write_bundle(const Bundle& bundle, const std::filesystem::path& folder);
// Throws npu::Error (cannot_read, bad_input) for a folder that is none or damaged.
[[nodiscard]] Bundle read_bundle(const std::filesystem::path& folder);

// Memory of a tile that runs by itself.
class BundleMemory final : public engine::MemoryView {
 public:
  explicit BundleMemory(std::vector<MemoryBlock> blocks) : blocks_(std::move(blocks)) {}
  std::span<uint8_t> resolve(const contract::Address& address, int64_t low, int64_t high,
                             engine::Access access) override;

 private:
  std::vector<MemoryBlock> blocks_;
};

}  // namespace npu::cosim
