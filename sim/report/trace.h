// SPDX-License-Identifier: Apache-2.0
// A trace in Chrome's JSON format, for ui.perfetto.dev or chrome://tracing: a track per queue with a slice per command,
// named after its layer, a track of the firmware's phases, a track of invocations, and a track per variable with a
// slice per use, a further one where uses overlap; arrows from a command to those that took its token; counters of the
// scratchpad and DRAM. All are on one axis, that of device time; job_axis.h says how the
// cycles of a job get there. Without firmware there is no device time, and invocations follow each other without a gap.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "driver/compiler/program.h"
#include "driver/graph/file.h"
#include "driver/runtime/runtime.h"
#include "sim/report/command_list.h"
#include "sim/report/job_axis.h"
#include "sim/report/trace_levels.h"

namespace npu::report {

class TraceWriter {
 public:
  // Records beyond this are left out; finish() then says how many.
  static constexpr uint64_t kMaxSlices = 2'000'000;

  // Throws Error(kCannotWrite).
  TraceWriter(const std::filesystem::path& path, const compiler::Program& program, const contract::Capabilities& caps);
  ~TraceWriter();
  TraceWriter(const TraceWriter&) = delete;
  TraceWriter& operator=(const TraceWriter&) = delete;

  void add(const runtime::RunResult& result);
  // Ends the document, and the firmware's last phase where the last job ended; returns how many records were left out.
  // Throws Error(kCannotWrite).
  uint64_t close();
  // The closed file, for the caller to put into its place.
  [[nodiscard]] graph::NewFile release();

 private:
  struct File;

  [[noreturn]] void fail(const std::string& why) const;
  void write_track(uint32_t id, std::string_view name, uint32_t position);
  void write_track_names(const contract::Capabilities& caps);
  void write_invocation(const runtime::RunResult& result, const JobAxis& axis);
  void write_command(const contract::Event& event, const JobAxis& axis);
  // Arrows and counters of an invocation.
  struct Extras;
  [[nodiscard]] Extras extras_of(const runtime::RunResult& result) const;
  void write_extras(const Extras& extras, const JobAxis& axis);
  void write_uses(const runtime::RunResult& result, const JobAxis& axis);
  // The track of a variable that is free at this time, made when it is needed first.
  [[nodiscard]] uint32_t free_track(uint32_t variable, uint64_t begin, uint64_t end);
  // Ends the phase before, which lasted until now.
  void write_phase(const runtime::FirmwarePhase& next);
  void put(const std::string& record);
  [[nodiscard]] std::string microseconds(uint64_t cycles) const;
  [[nodiscard]] std::string layer_name(const contract::Event& event) const;

  graph::NewFile new_file_;
  std::unique_ptr<File> file_;
  std::vector<std::string> layers_, operators_, variables_;  // as JSON strings
  std::vector<std::vector<uint64_t>> busy_until_;            // of the tracks of each variable, device time
  std::vector<CommandInfo> commands_;
  std::vector<std::vector<ScratchpadUse>> scratchpad_uses_;  // one a command
  uint32_t clock_mhz_;
  uint32_t tracks_ = 0;  // before those of variables
  uint64_t invocations_ = 0;
  uint64_t arrows_ = 0;
  uint64_t end_ = 0;              // device time at which the last invocation ended
  bool firmware_track_ = false;   // whether it was named
  runtime::FirmwarePhase phase_;  // that the firmware is in; idle ones have no slice
  uint64_t written_ = 0, left_out_ = 0;
};

}  // namespace npu::report
