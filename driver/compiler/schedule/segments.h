// SPDX-License-Identifier: Apache-2.0
// Streams that save what is live in the scratchpad where a job stops, and bring it back.
#pragma once

#include <span>
#include <vector>

#include "driver/compiler/program.h"
#include "driver/compiler/schedule/liveness.h"
#include "hw/contract/gen/capabilities.h"

namespace npu::compiler::backend {

// Pieces that cover `live` (ascending), on boundaries of 16 bytes; near ones are joined, so that there are few.
[[nodiscard]] std::vector<ByteSpan> pieces_of(const std::vector<ByteSpan>& live);

// Fills live_bytes and both streams of every segment of `program` and appends the streams to its commands; sets
// save_bytes. live[i]: live bytes at segment i; layers[i]: what its commands are counted for.
void add_segment_streams(const std::vector<std::vector<ByteSpan>>& live, std::span<const uint32_t> layers,
                         const contract::Capabilities& capabilities, Program& program);

// Appends the stream that loads all constants of `program` into region `resident`, and sets what describes it.
void add_load_stream(const contract::Capabilities& capabilities, Program& program);

}  // namespace npu::compiler::backend
