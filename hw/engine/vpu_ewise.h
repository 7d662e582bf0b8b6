// SPDX-License-Identifier: Apache-2.0
// Element-wise tiles: a micro-program over blocks of elements.
#pragma once

#include <span>
#include <vector>

#include "hw/contract/gen/capabilities.h"
#include "hw/engine/box.h"
#include "hw/engine/channel_params.h"
#include "hw/engine/engine.h"
#include "hw/engine/kernels.h"
#include "hw/engine/scratch.h"
#include "hw/engine/vpu_uops.h"

namespace npu::engine {

// No tile may execute more micro-operations on elements than this: a damaged command must end in seconds.
inline constexpr uint64_t kMaxTileUops = uint64_t{1} << 34;

// One validated element-wise command.
struct EwiseTile {
  contract::VpuEwiseCommand command;
  uint64_t elements = 1;
  // Which operands the program uses, and as what.
  struct Use {
    bool loaded = false, stored = false, blob = false;
  };
  std::vector<Use> uses;
  bool per_channel = false;  // some RESCALE has an entry for each index of the innermost dimension

  // fault_bad_command for a count, enum value, register, operand, immediate or table length out of range, for a
  // register read before it is written, and for dimensions of 0 or beyond kMaxTileUops.
  [[nodiscard]] static contract::ErrorCode parse(std::span<const uint32_t> words, EwiseTile& tile);

  [[nodiscard]] Box box(size_t operand) const;
};

// Where the operands of a tile are: the first byte of each box; null for operands that the program does not use.
struct EwiseOperands {
  std::array<uint8_t*, contract::kMaxOperands> data{};

  // Asks for tables and parameters, then for what is loaded, then for what is stored, and ends with the first that is
  // refused.
  [[nodiscard]] contract::ErrorCode resolve(const EwiseTile& tile, MemoryView& memory);
};

// Elements are computed in blocks, and a block loads before it stores: a result may take the place of an operand that
// is walked the same way; any other overlap of a result with an operand gives no defined values.
class EwiseRunner {
 public:
  EwiseRunner(const contract::Capabilities& caps, const Kernels& kernels) : caps_(caps), kernels_(kernels) {}
  [[nodiscard]] TileResult run(std::span<const uint32_t> words, MemoryView& memory, bool timed);

 private:
  static constexpr size_t kDims = 4;
  // The iteration space after dimensions of 1 went and dimensions that continue each other in every operand merged.
  struct Loops {
    std::array<uint64_t, kDims> dims = {1, 1, 1, 1};
    std::array<std::array<int64_t, kDims>, contract::kMaxOperands> strides{};
  };

  [[nodiscard]] static Loops merge_loops(const EwiseTile& tile);
  void prepare_rescales(const EwiseTile& tile, uint64_t inner, uint64_t rows);
  void execute(const EwiseTile& tile);

  const contract::Capabilities& caps_;
  const Kernels& kernels_;
  EwiseOperands operands_;
  std::array<UopStream, contract::kMaxOperands> streams_{};
  std::array<UopRescale, contract::kMaxUops> rescales_{};
  std::array<ChannelParams, contract::kMaxUops> params_;
  Scratch registers_;
};

}  // namespace npu::engine
