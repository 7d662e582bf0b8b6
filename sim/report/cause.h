// SPDX-License-Identifier: Apache-2.0
// What a cycle is spent on, and which resource of the machine that is.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace npu::report {

enum class Cause : uint8_t {
  kMxuCompute,
  kVpuCompute,
  kFillDrain,
  kBankConflicts,
  kWeightLoadFirst,
  kWeightLoadRoom,
  kWeightLoadDram,
  kWeightLoadPort,
  kWeightLoadLatency,
  kDramRead,
  kDramWrite,
  kDramLatency,
  kState,
  kOnChipCopy,
  kTokens,
  kVariableTable,
  kCommandFetch,
  kCommandIssue,
};
inline constexpr size_t kCauseCount = 18;
[[nodiscard]] std::string_view name(Cause cause);   // "weight_load_dram", a key
[[nodiscard]] std::string_view words(Cause cause);  // "weights", for people, behind the resource

// A resource that would make a job shorter if there were more of it, or it were faster.
enum class Resource : uint8_t {
  kMxu,             // its array
  kVpu,             // its lanes
  kDram,            // bytes a cycle, of DRAM or of the port to it
  kScratchpadPort,  // of the MXU for weights, and the banks
  kDma,             // channels: transfers on the chip
  kLatency,         // answers of DRAM, tokens
  kCommandIssue,    // decoding of the stream, the variable table
};
inline constexpr size_t kResourceCount = 7;
[[nodiscard]] std::string_view name(Resource resource);   // "scratchpad_port", a key
[[nodiscard]] std::string_view words(Resource resource);  // "scratchpad port", for people

using CauseCycles = std::array<uint64_t, kCauseCount>;
using ResourceCycles = std::array<uint64_t, kResourceCount>;

}  // namespace npu::report
