// SPDX-License-Identifier: Apache-2.0
#include "sim/report/trace.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "driver/graph/text.h"
#include "hw/contract/error.h"
#include "sim/report/unroll.h"

namespace npu::report {
namespace {

using contract::Event;
using contract::Queue;

// Tracks behind those of the queues, whose numbers are the queues'.
constexpr uint32_t kInvocationTrack = 100;
constexpr uint32_t kFirmwareTrack = 102;
constexpr uint32_t kVariableTracks = 200;  // one a variable; further ones of a variable at multiples of their number
// Below the invocations; its track is there only where firmware runs.
constexpr uint32_t kFirmwarePosition = 1;

std::string json_string(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

}  // namespace

// Buffers what goes to a file.
struct TraceWriter::File {
  explicit File(int descriptor) : handle(::fdopen(::fcntl(descriptor, F_DUPFD_CLOEXEC, 3), "wb")) {
    if (handle == nullptr) failure = errno;
  }
  ~File() {
    if (handle != nullptr) std::fclose(handle);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  void put(const char* text) {
    if (std::fputs(text, handle) < 0 && failure == 0) failure = errno;
  }
  // Whether all was written.
  bool finish() {
    if (std::fclose(std::exchange(handle, nullptr)) != 0 && failure == 0) failure = errno;
    return failure == 0;
  }

  std::FILE* handle = nullptr;
  int failure = 0;  // the first
};

TraceWriter::TraceWriter(const std::filesystem::path& path, const compiler::Program& program,
                         const contract::Capabilities& caps)
    : new_file_(path),
      file_(std::make_unique<File>(new_file_.descriptor())),
      commands_(list_commands(program)),
      scratchpad_uses_(list_scratchpad_uses(program)),
      clock_mhz_(caps.clock_mhz) {
  if (file_->handle == nullptr) fail(std::strerror(file_->failure));
  for (const compiler::Layer& layer : program.layers) {
    layers_.push_back(json_string(layer.name));
    operators_.push_back(json_string(layer.operators));
  }
  for (const compiler::Variable& variable : program.variables) variables_.push_back(variable.identity);
  busy_until_.resize(variables_.size());
  file_->put("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
  write_track_names(caps);
}

TraceWriter::~TraceWriter() = default;

void TraceWriter::write_track_names(const contract::Capabilities& caps) {
  put(R"({"ph":"M","pid":1,"name":"process_name","args":{"name":"NPU"}})");
  uint32_t position = 0;
  const auto track = [&](uint32_t id, std::string_view name) { write_track(id, name, position++); };
  track(kInvocationTrack, "invocations");
  position = kFirmwarePosition + 1;
  track(static_cast<uint32_t>(Queue::kSequencer), contract::name(Queue::kSequencer));
  track(static_cast<uint32_t>(Queue::kMxu), contract::name(Queue::kMxu));
  track(static_cast<uint32_t>(Queue::kVpu), contract::name(Queue::kVpu));
  for (uint32_t i = 0; i < caps.dma_channels; ++i) track(i, contract::name(contract::dma_queue(i)));
  tracks_ = position;
}

void TraceWriter::write_track(uint32_t id, std::string_view name, uint32_t position) {
  put(fmt::format(R"({{"ph":"M","pid":1,"tid":{},"name":"thread_name","args":{{"name":{}}}}})", id,
                  json_string(std::string(name))));
  put(fmt::format(R"({{"ph":"M","pid":1,"tid":{},"name":"thread_sort_index","args":{{"sort_index":{}}}}})", id,
                  position));
}

struct TraceWriter::Extras {
  struct Counter {
    std::string_view name, unit;
    std::vector<Level> levels;
  };
  std::vector<std::pair<Event, Event>> arrows;  // from what was awaited to what waited
  std::vector<Counter> counters;

  [[nodiscard]] uint64_t records() const {
    uint64_t sum = 2 * arrows.size();
    for (const Counter& counter : counters) sum += counter.levels.size();
    return sum;
  }
};

TraceWriter::Extras TraceWriter::extras_of(const runtime::RunResult& result) const {
  Unrolled job = unroll(result.events, commands_, {});
  Extras extras;
  // Tokens count commands, so that none may be missing.
  if (result.events_lost == 0) {
    for (const Wait& wait : list_waits(job.commands)) {
      extras.arrows.emplace_back(job.events[wait.awaited], job.events[wait.command]);
    }
  }
  for (size_t i = 0; i < job.events.size(); ++i) job.events[i].command = job.indices[i];
  extras.counters = {{"scratchpad in use", "bytes", scratchpad_levels(job.events, scratchpad_uses_)},
                     {"DRAM in flight", "bytes", dram_in_flight(job.events)},
                     {"DRAM rate", "bytes_a_cycle", dram_rates(job.events)}};
  return extras;
}

void TraceWriter::add(const runtime::RunResult& result) {
  const Extras extras = extras_of(result);
  const uint64_t records = 3 * result.events.size() + result.phases.size() + extras.records();
  if (written_ + records > kMaxSlices) {
    left_out_ += result.events.size() + result.phases.size();
    return;
  }
  const JobAxis axis(result, end_);
  write_invocation(result, axis);
  for (const Event& event : result.events) write_command(event, axis);
  write_uses(result, axis);
  write_extras(extras, axis);
  // Where firmware is bypassed, it has no track.
  if (!result.phases.empty() && !firmware_track_) {
    write_track(kFirmwareTrack, "firmware", kFirmwarePosition);
    firmware_track_ = true;
  }
  for (const runtime::FirmwarePhase& phase : result.phases) write_phase(phase);
}

// From the doorbell to the completion; a job that was queued while another one ran has its slice behind that one's.
void TraceWriter::write_invocation(const runtime::RunResult& result, const JobAxis& axis) {
  const runtime::JobTimes& times = result.times;
  const bool firmware = times.completed != 0;
  const uint64_t begin = firmware ? std::max(times.submitted, end_) : axis.time(0);
  const uint64_t end = std::max(firmware ? times.completed : axis.time(result.cycles), begin);
  if (!firmware) {  // there are no times but the stream's
    put(fmt::format(R"({{"ph":"X","pid":1,"tid":{},"name":"invocation {}","ts":{},"dur":{},"args":{{"cycles":{}}}}})",
                    kInvocationTrack, invocations_++, microseconds(begin), microseconds(end - begin), result.cycles));
    end_ = end;
    return;
  }
  put(fmt::format(R"({{"ph":"X","pid":1,"tid":{},"name":"invocation {}","ts":{},"dur":{},"args":{{"cycles":{},)"
                  R"("submitted":{},"accepted":{},"started":{},"ended":{},"completed":{},"firmware_cycles":{},)"
                  R"("preemptions":{},"blocked":{},"save_cycles":{},"parts":{}}}}})",
                  kInvocationTrack, invocations_++, microseconds(begin), microseconds(end - begin), result.cycles,
                  times.submitted, times.accepted, times.started, times.ended, times.completed, times.firmware_cycles,
                  times.preemptions, times.blocked, times.save_cycles, axis.parts()));
  end_ = end;
}

void TraceWriter::write_phase(const runtime::FirmwarePhase& next) {
  if (phase_.phase != contract::Phase::kIdle && next.time >= phase_.time) {
    put(fmt::format(
        R"({{"ph":"X","pid":1,"tid":{},"name":"{}","cat":"firmware","ts":{},"dur":{},"args":{{"ring":{}}}}})",
        kFirmwareTrack, contract::name(phase_.phase), microseconds(phase_.time), microseconds(next.time - phase_.time),
        phase_.ring));
  }
  phase_ = next;
}

void TraceWriter::write_command(const Event& event, const JobAxis& axis) {
  const auto opcode = static_cast<contract::Opcode>(event.opcode);
  const bool has_layer = event.layer < operators_.size() && contract::queue_of(event) != Queue::kSequencer;
  const Transfer transfer = event.command < commands_.size() ? commands_[event.command].transfer : Transfer::kNone;
  put(fmt::format(
      R"({{"ph":"X","pid":1,"tid":{},"name":{},"cat":"{}","ts":{},"dur":{},"args":{{"command":{},)"
      R"("opcode":"{}","operators":{},"moves":"{}","issued":{},"started":{},"completed":{},"busy":{},"stalled":{},)"
      R"("dram_read":{},"dram_written":{},"psram_read":{},"psram_written":{}}}}})",
      event.queue, layer_name(event), contract::name(opcode), microseconds(axis.time(event.started)),
      microseconds(event.completed - event.started), event.command, contract::name(opcode),
      has_layer ? operators_[event.layer] : std::string("\"\""), words(transfer), event.issued, event.started,
      event.completed, event.busy, event.stalled, event.dram_read, event.dram_written, event.psram_read,
      event.psram_written));
}

void TraceWriter::write_extras(const Extras& extras, const JobAxis& axis) {
  for (const auto& [awaited, waiting] : extras.arrows) {
    // Within the slice that ends, so that the arrow is its own, and at the begin of the other one.
    const uint64_t last = std::max(awaited.completed, awaited.started + 1) - 1;
    put(fmt::format(R"({{"ph":"s","pid":1,"tid":{},"name":"token","cat":"token","id":{},"ts":{}}})", awaited.queue,
                    arrows_, microseconds(axis.time(awaited.started) + (last - awaited.started))));
    put(fmt::format(R"({{"ph":"f","bp":"e","pid":1,"tid":{},"name":"token","cat":"token","id":{},"ts":{}}})",
                    waiting.queue, arrows_++, microseconds(axis.time(waiting.started))));
  }
  for (const Extras::Counter& counter : extras.counters) {
    for (const Level& level : counter.levels) {
      put(fmt::format(R"({{"ph":"C","pid":1,"name":"{}","ts":{},"args":{{"{}":{:.10g}}}}})", counter.name,
                      microseconds(axis.time(level.cycle)), counter.unit, level.value));
    }
  }
}

void TraceWriter::write_uses(const runtime::RunResult& result, const JobAxis& axis) {
  std::vector<const Event*> order;
  for (const Event& event : result.events) {
    if (event.command < commands_.size() && !commands_[event.command].variables.empty()) order.push_back(&event);
  }
  std::stable_sort(order.begin(), order.end(), [](const Event* a, const Event* b) { return a->started < b->started; });
  for (const Event* event : order) {
    for (const VariableAccess& access : commands_[event->command].variables) {
      if (access.variable >= variables_.size()) continue;
      const uint64_t begin = axis.time(event->started);
      const uint64_t end = begin + (event->completed - event->started);
      put(fmt::format(
          R"({{"ph":"X","pid":1,"tid":{},"name":"{}","cat":"variable","ts":{},"dur":{},"args":{{"variable":)"
          R"({},"use":"{}","layer":{},"command":{}}}}})",
          free_track(access.variable, begin, end), name(access.use), microseconds(begin), microseconds(end - begin),
          json_string(variables_[access.variable]), name(access.use), layer_name(*event), event->command));
    }
  }
}

uint32_t TraceWriter::free_track(uint32_t variable, uint64_t begin, uint64_t end) {
  std::vector<uint64_t>& tracks = busy_until_[variable];
  const auto count = static_cast<uint32_t>(variables_.size());
  const auto free =
      std::find_if(tracks.begin(), tracks.end(), [&](uint64_t busy_until) { return busy_until <= begin; });
  const auto lane = static_cast<uint32_t>(free - tracks.begin());
  const uint32_t id = kVariableTracks + variable + lane * count;
  if (free == tracks.end()) {
    tracks.push_back(end);
    const std::string text = lane == 0 ? variables_[variable] : fmt::format("{} ({})", variables_[variable], lane + 1);
    write_track(id, text, tracks_ + variable + lane * count);
  } else {
    *free = end;
  }
  return id;
}

std::string TraceWriter::layer_name(const Event& event) const {
  const bool known = event.layer < layers_.size() && contract::queue_of(event) != Queue::kSequencer;
  return known ? layers_[event.layer]
               : fmt::format("\"{}\"", contract::name(static_cast<contract::Opcode>(event.opcode)));
}

void TraceWriter::put(const std::string& record) {
  if (written_++ > 0) file_->put(",\n");
  file_->put(record.c_str());
}

// Microseconds with the exact picoseconds of the cycle, as far as the format's floating point goes.
std::string TraceWriter::microseconds(uint64_t cycles) const {
  return fmt::format("{:.6f}", static_cast<double>(cycles) / clock_mhz_);
}

uint64_t TraceWriter::close() {
  write_phase({std::max(end_, phase_.time), contract::Phase::kIdle, 0});
  file_->put("\n]}\n");
  if (!file_->finish()) fail(std::strerror(file_->failure));
  file_.reset();
  return left_out_;
}

void TraceWriter::fail(const std::string& why) const {
  throw Error(contract::ErrorCode::kCannotWrite,
              fmt::format("cannot write the trace {}: {}.", graph::in_quotes(new_file_.file().string()), why));
}

graph::NewFile TraceWriter::release() { return std::move(new_file_); }

}  // namespace npu::report
