// SPDX-License-Identifier: Apache-2.0
// Snapshots of variables: as files, against a network, and as the state of the software reference.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "driver/runtime/snapshot.h"
#include "sim/reference/reference.h"
#include "sim/tool/staged_files.h"
#include "sim/workload/network.h"

namespace npu::workload {

// Throws Error: kCannotRead; kBadSnapshot, with the file's name in front.
[[nodiscard]] runtime::Snapshot read_snapshot(const std::string& file);
// Among the files that appear together. Throws Error(kCannotWrite).
void write_snapshot(tool::StagedFiles& files, const std::filesystem::path& file, const runtime::Snapshot& snapshot);

// Whether snapshot and network have the same variables, of the same types and shapes; any size fits where the network's
// file leaves it open. Throws Error(kBadSnapshot) naming file, network, and the variables that are in one of them only
// or differ.
void check_fit(const runtime::Snapshot& snapshot, const std::string& file, const Network& network);
// Variables whose size the file of a network that they fit leaves open, as they are: "'h' as 5x4, 'g' as 5x8".
[[nodiscard]] std::string open_sizes_of(const runtime::Snapshot& snapshot, const Network& network);

// A variable of `file` that is `open` in the network, and `shape` in a run. One that is not written gets that shape.
// Throws Error(kVariableMismatch) for a written one of another size. Does nothing where fixed sizes differ, which makes
// it another variable.
void take_size(const graph::Shape& open, const graph::Shape& shape, const std::string& file,
               runtime::SnapshotVariable& variable);

// What a run starts with: the snapshot of --resume, checked, with the sizes of the run where variables are not written;
// or an empty one where that is empty. Throws what read_snapshot(), check_fit() and take_size() throw.
[[nodiscard]] runtime::Snapshot start_of(const std::string& resume, const Network& network);

// The reference's variables as a snapshot has them; those that are not written there start as after a clear.
[[nodiscard]] reference::Context to_reference(const runtime::Snapshot& snapshot);
// The other way round. `before`: what the run started with, whose `invocations` these are behind.
[[nodiscard]] runtime::Snapshot from_reference(const reference::Context& context, const Network& network,
                                               const runtime::Snapshot& before, uint64_t invocations);

}  // namespace npu::workload
