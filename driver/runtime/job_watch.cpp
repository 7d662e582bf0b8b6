// SPDX-License-Identifier: Apache-2.0
#include "driver/runtime/job_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "driver/runtime/control_cpu.h"

namespace npu::runtime {
namespace {

// Streams of a job's whole limit between two ends of jobs: one that restores, the segment behind it, one that saves,
// and the urgent job's own two; one is to spare.
constexpr uint64_t kMostStreams = 6;

}  // namespace

JobWatch::JobWatch(const contract::Capabilities& caps)
    : clock_mhz_(caps.clock_mhz),
      cpu_clock_mhz_(caps.cpu_clock_mhz),
      answer_(caps.clock_mhz * kAnswerMicroseconds),
      most_working_(caps.cpu_clock_mhz * kAnswerMicroseconds) {}

void JobWatch::restart(uint64_t time) {
  time_ = time;
  busy_cycles_.reset();
  commands_done_ = 0;
}

void JobWatch::check(const Sight& sight) {
  if (sight.commands_done > commands_done_) {
    restart(sight.time);
    commands_done_ = sight.commands_done;
  }
  if (!busy_cycles_) busy_cycles_ = sight.busy_cycles;
  const uint64_t most_working = most_working_ + sight.sizes_cycles;
  if (sight.busy_cycles - *busy_cycles_ > most_working) {
    throw FirmwareGone(
        fmt::format("the firmware worked for {} cycles, but no command completed and no job ended", most_working));
  }
  const uint64_t answer = answer_ + sight.sizes_cycles * clock_mhz_ / cpu_clock_mhz_;
  if (sight.all_done && sight.time - time_ > answer) {
    throw FirmwareGone(fmt::format(
        "all commands of a job have completed, but the firmware did not end the job within {} cycles", answer));
  }
  const uint64_t begin = std::max(time_, sight.not_before);
  if (sight.cycle_limit == 0 || sight.time <= begin) return;
  const bool huge = sight.cycle_limit > (std::numeric_limits<uint64_t>::max() - answer) / kMostStreams;
  if (!huge && sight.time - begin > sight.cycle_limit * kMostStreams + answer) {
    throw FirmwareGone(fmt::format("no command completed and no job ended within {} cycles, {} times the jobs' limit",
                                   sight.cycle_limit * kMostStreams + answer, kMostStreams));
  }
}

}  // namespace npu::runtime
