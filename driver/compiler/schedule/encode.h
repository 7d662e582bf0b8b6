// SPDX-License-Identifier: Apache-2.0
// The command stream in words, with what of it the loader fills in.
#pragma once

#include <vector>

#include "driver/compiler/program.h"
#include "driver/compiler/schedule/emit.h"
#include "driver/compiler/schedule/yields.h"
#include "hw/contract/gen/capabilities.h"

namespace npu::compiler::backend {

// Words of each command as it is encoded.
[[nodiscard]] std::vector<uint32_t> words_of(const std::vector<Command>& commands);

// Fills commands, main_words, command_count, event_capacity, caps_hash, patches and tail_cycles of `program`, and of
// its segments yield_word and cycles.
void encode(const std::vector<Command>& commands, const Yields& yields, const contract::Capabilities& capabilities,
            Program& program);

}  // namespace npu::compiler::backend
