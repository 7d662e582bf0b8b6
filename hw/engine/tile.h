// SPDX-License-Identifier: Apache-2.0
// What an engine is asked to do: one command that was decoded and checked. The rule for which commands engines accept
// is here and nowhere else: the sequencer asks it before it issues a command, and back ends that clock RTL get the same
// tiles.
#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "hw/contract/gen/capabilities.h"
#include "hw/contract/gen/commands.h"
#include "hw/contract/gen/errors.h"
#include "hw/engine/mxu_tile.h"
#include "hw/engine/vpu_ewise_tile.h"
#include "hw/engine/vpu_pool_tile.h"
#include "hw/engine/vpu_reduce_tile.h"

namespace npu::engine {

using Tile = std::variant<MxuTile, EwiseTile, PoolTile, ReduceTile>;

// fault_bad_command for a command that is no engine's, or that make() of its tile refuses: fields out of range, types
// that do not fit each other, more work than a damaged command may be.
[[nodiscard]] contract::ErrorCode make_tile(contract::AnyCommand command, Tile& tile);

// Whether the engines of a machine can run it: registers and table memory of the VPU, element types, residuals and
// pixels side by side of the MXU. What they cannot run is fault_bad_command, too.
[[nodiscard]] bool can_run(const contract::Capabilities& caps, const Tile& tile);

// Of any words.
[[nodiscard]] contract::ErrorCode parse_tile(std::span<const uint32_t> words, Tile& tile);

// As the command was issued.
[[nodiscard]] const contract::Header& header_of(const Tile& tile);
[[nodiscard]] std::vector<uint32_t> words_of(const Tile& tile);

}  // namespace npu::engine
