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

// Whether snapshot and network have the same variables, of the same types and shapes. Throws Error(kBadSnapshot) naming
// file, network, and the variables that are in one of them only or differ.
void check_fit(const runtime::Snapshot& snapshot, const std::string& file, const Network& network);

// What a run starts with: the snapshot of --resume, checked, or an empty one where that is empty.
[[nodiscard]] runtime::Snapshot start_of(const std::string& resume, const Network& network);

// The reference's variables as a snapshot has them; those that are not written there start as after a clear.
[[nodiscard]] reference::Context to_reference(const runtime::Snapshot& snapshot);
// The other way round. `before`: what the run started with, whose `invocations` these are behind.
[[nodiscard]] runtime::Snapshot from_reference(const reference::Context& context, const Network& network,
                                               const runtime::Snapshot& before, uint64_t invocations);

}  // namespace npu::workload
