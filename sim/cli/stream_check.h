// SPDX-License-Identifier: Apache-2.0
// What the outputs of `npu stream` should be, and whether they are.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "driver/runtime/runtime.h"
#include "sim/cli/stream_networks.h"
#include "sim/cli/stream_schedule.h"
#include "sim/cli/stream_session.h"
#include "sim/report/report.h"
#include "sim/tool/progress.h"

namespace npu::cli {

// The outputs of each stream on the software reference, which follows the schedule; the streams of a context share its
// variables. Throws what reference::run throws, with frame and stream in front.
[[nodiscard]] std::vector<Outputs> run_reference(const std::vector<Stream>& streams, size_t contexts,
                                                 const Schedule& schedule);

// The outputs of each stream on the device, of one context after the other. Throws what running a job throws.
[[nodiscard]] std::vector<Outputs> run_undisturbed(runtime::Device& device, const std::vector<Stream>& streams,
                                                   const std::vector<runtime::ContextOptions>& contexts,
                                                   const Schedule& schedule, tool::Progress& progress);

// The device's own outputs have the same bits; those of the reference are near where they are floating point.
enum class Judging : uint8_t { kEveryBit, kAsReference };

// Every element of every output of every frame; `got` has as many frames and outputs as `want`.
void compare(const Stream& stream, const Outputs& got, const Outputs& want, Judging judging,
             report::CheckResult& check);

}  // namespace npu::cli
