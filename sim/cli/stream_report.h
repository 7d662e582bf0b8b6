// SPDX-License-Identifier: Apache-2.0
// What `npu stream` prints and writes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sim/cli/stream_options.h"
#include "sim/cli/stream_session.h"
#include "sim/report/report.h"

namespace npu::cli {

struct StreamCheck {
  uint64_t compared = 0, differing = 0;
  std::string first;  // that differs, in words
};

struct StreamReport {
  const Interleaved& run;
  const std::optional<StreamCheck>& check;
  // What computed.
  std::vector<report::EngineRun> engines;
  report::PersistentRun persistent_sram;
};

// Where the outputs of a network go.
[[nodiscard]] std::filesystem::path outputs_folder(const StreamOptions& options, const Stream& stream);

// Outputs and JSON, as far as the options ask for them.
void write_files(const StreamOptions& options, const std::vector<Stream>& streams, const StreamReport& report);
void print(const StreamOptions& options, const std::vector<Stream>& streams, const StreamReport& report);

}  // namespace npu::cli
