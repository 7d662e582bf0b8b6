// SPDX-License-Identifier: Apache-2.0
// What `npu stream` tells of a run, as text and as JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/cli/stream_check.h"
#include "sim/cli/stream_networks.h"
#include "sim/cli/stream_options.h"
#include "sim/cli/stream_schedule.h"
#include "sim/cli/stream_session.h"
#include "sim/report/report.h"

namespace npu::cli {

struct StreamRun {
  const StreamOptions& options;
  const std::vector<Stream>& streams;
  const Schedule& schedule;
  const std::vector<StreamResult>& results;  // by stream
  const std::optional<report::CheckResult>& check;
  // What computed.
  std::vector<report::EngineRun> engines;
  report::PersistentRun persistent_sram;
};

// The document of docs/reference/npu.md, with a line end.
[[nodiscard]] std::string to_json_text(const StreamRun& run);
// A row for each network, the order of the frames in the first rounds, and the comparison.
[[nodiscard]] std::string to_text(const StreamRun& run);

}  // namespace npu::cli
