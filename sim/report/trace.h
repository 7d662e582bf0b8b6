// A trace in Chrome's JSON format, for ui.perfetto.dev or chrome://tracing: a track per queue with a slice per command,
// named after its layer, a track of invocations, and a track on which uses of variables are marks. Times are those of
// the simulated machine; invocations follow each other without a gap, since the device waits in no time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "driver/compiler/program.h"
#include "driver/runtime/runtime.h"
#include "sim/report/command_list.h"

namespace npu::report {

class TraceWriter {
 public:
  // Records beyond this are left out; finish() then says how many.
  static constexpr uint64_t kMaxSlices = 2'000'000;

  // Opens a temporary file beside `path`. Throws Error(kCannotWrite).
  TraceWriter(std::filesystem::path path, const compiler::Program& program, const contract::Capabilities& caps);
  // Leaves nothing behind unless finished.
  ~TraceWriter();
  TraceWriter(const TraceWriter&) = delete;
  TraceWriter& operator=(const TraceWriter&) = delete;

  void add(const runtime::RunResult& result);
  // Gives the file its name; returns how many records were left out. Throws Error(kCannotWrite).
  uint64_t finish();

 private:
  struct File;

  void write_track_names(const contract::Capabilities& caps);
  void write_command(const contract::Event& event);
  void write_marks(const contract::Event& event);
  void put(const std::string& record);
  [[nodiscard]] std::string time(uint64_t cycle) const;  // of the current invocation
  [[nodiscard]] std::string duration(uint64_t cycles) const;
  [[nodiscard]] std::string layer_name(const contract::Event& event) const;

  std::filesystem::path path_, temporary_;
  std::unique_ptr<File> file_;
  std::vector<std::string> layers_, operators_, variables_;  // as JSON strings
  std::vector<CommandInfo> commands_;
  uint32_t clock_mhz_;
  uint64_t invocations_ = 0;
  uint64_t base_ = 0;  // cycles of the invocations before
  uint64_t written_ = 0, left_out_ = 0;
};

}  // namespace npu::report
