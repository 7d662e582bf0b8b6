// SPDX-License-Identifier: Apache-2.0
// What the segments of every Program must satisfy.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "driver/compiler/program.h"
#include "driver/compiler/schedule/emit.h"
#include "driver/compiler/schedule/view.h"
#include "hw/contract/gen/capabilities.h"

namespace npu::compiler::testing {

// The commands of the main stream without those of the sequencer, and where the yields stand among them.
struct DecodedStream {
  std::vector<backend::Command> commands;
  std::vector<size_t> yields;  // by segment: index of the command that follows
};
[[nodiscard]] DecodedStream decode_stream(const Program& program);

// Live scratchpad bytes at each segment, found byte by byte.
[[nodiscard]] std::vector<std::vector<backend::ByteSpan>> live_bytes(const Program& program,
                                                                     const contract::Capabilities& capabilities);

// Scratchpad bytes that a segment saves, in order of their place in region `save`.
[[nodiscard]] std::vector<backend::ByteSpan> saved_bytes(const Program& program, const Segment& segment);

// Layout of the words, moves that pack and mirror each other, no live byte left out, no yield that is of no use. Empty:
// all is right.
[[nodiscard]] std::string check_segments(const Program& program, const contract::Capabilities& capabilities);

// Whether points are at most `segment_cycles` apart by estimate, or as near as commands allow. Empty: all is right.
[[nodiscard]] std::string check_segment_times(const Program& program, const contract::Capabilities& capabilities,
                                              uint32_t segment_cycles);

}  // namespace npu::compiler::testing
