// SPDX-License-Identifier: Apache-2.0
// The contents of a context's variables at one moment, as an object, as a file, and compared with another.
//
// The file, all numbers little endian: the magic "TNPUSTAT", u32 format version, u32 0, u64 bytes of the payload, the
// payload, u32 CRC-32 (IEEE 802.3) of everything before. The payload: the label, u32 owner, u32 count, and for each
// variable in order of identities: identity, tensor name, type ("INT8"), last writer, u64 invocations, u32 rank (at
// most 32), i64 dimensions, u8 is_written, u8 place (StatePlace), and with is_written the elements as graph::Value has
// them. Texts are u32 length and bytes. Version 3 has, behind the dimensions, u8 1 and as many i64 of `largest`, or u8
// 0; snapshots without such a variable are of version 2.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "driver/graph/value.h"

namespace npu::runtime {

inline constexpr uint32_t kSnapshotVersion = 2, kSizedSnapshotVersion = 3;

// Where a variable lay when it was saved.
enum class StatePlace : uint8_t { kHost, kPersistentSram, kDram };  // kHost: the reference's

struct SnapshotVariable {
  std::string identity;     // graph::variable_identity
  std::string tensor_name;  // for people
  graph::DType type = graph::DType::kUnknown;
  graph::Shape shape;  // as VariableInfo has it, and `largest` below
  bool is_written = false;
  std::vector<uint8_t> bytes;  // machine elements (graph/value.h); empty unless is_written
  std::string last_writer;     // see VariableInfo
  uint64_t invocations = 0;
  StatePlace place = StatePlace::kHost;
  graph::Shape largest{};

  friend bool operator==(const SnapshotVariable&, const SnapshotVariable&) = default;
};

struct Snapshot {
  std::string label;                        // free text from the caller that saved it: the network's file name
  std::vector<SnapshotVariable> variables;  // by identity, none twice
  uint32_t owner = 0;                       // Context::owner() of the context that held them; 0: the reference

  friend bool operator==(const Snapshot&, const Snapshot&) = default;
};

// Throws Error(kBadSnapshot) for one that says something impossible: variables out of order, or of impossible sizes, or
// elements that their type has no room for.
void check_snapshot(const Snapshot& snapshot);

// Throws what check_snapshot() throws.
[[nodiscard]] std::vector<uint8_t> serialise(const Snapshot& snapshot);

// Throws Error(kBadSnapshot) when the file is truncated, foreign, of another version, damaged (checksum), or says
// something impossible. Takes no more memory than a few times the file's size.
[[nodiscard]] Snapshot parse_snapshot(std::span<const uint8_t> file);

// Where two snapshots differ in one variable.
struct SnapshotDifference {
  std::string identity;
  std::string what;  // in words: "3 of 40 elements differ, the first is [2, 1]: -5 and 7, ..."
  // Of elements; 0 when the variable is not written, not there, or declared differently in one of the snapshots.
  int64_t compared = 0, differing = 0;
  int64_t first = -1;  // index of the first element that differs
  double max_abs = 0;  // largest absolute difference; infinite with a NaN or an infinity on one side only
};

// In variables of different presence, declaration or content, by identity; empty: all are equal. Floating-point
// elements are compared by their bits. What people read (label, owner, names, places, writers, invocations) does not
// count.
[[nodiscard]] std::vector<SnapshotDifference> diff(const Snapshot& a, const Snapshot& b);

}  // namespace npu::runtime
