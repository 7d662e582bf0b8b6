// SPDX-License-Identifier: Apache-2.0
// Two wake words stream at the same time, one more urgent than the other: every bit of both is right, and the urgent
// one waits no longer than the other's longest restore, segment and save, and than its program tells.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <map>
#include <random>
#include <sstream>

#include "driver/runtime/limits.h"
#include "sim/report/job_axis.h"
#include "tests/system/firmware/streams.h"

namespace npu::test {
namespace {

using contract::Opcode;
using contract::Phase;
using runtime::FirmwarePhase;
using runtime::RunResult;

// What the firmware takes between the moment at which a job is ready and the start of its stream, in cycles of its
// clock, besides the job that is in the way: whatever it was doing (it may just take or start another job), the timer,
// asking to stop, three interrupts, going on behind a restore, starting to save, completing the other job, starting.
// docs/architecture/firmware.md states it.
constexpr uint64_t kFirmwareAllowance = runtime::kMostFirmwareBlocking;

// Jobs that are queued ahead.
constexpr size_t kBatch = 8;

// Longest time from a yield (or the start) to the completion of everything before the next one (or the end).
uint64_t longest_segment(const RunResult& run) {
  std::vector<const contract::Event*> yields;
  for (const contract::Event& event : run.events) {
    if (static_cast<Opcode>(event.opcode) == Opcode::kYield) yields.push_back(&event);
  }
  std::sort(yields.begin(), yields.end(), [](auto* a, auto* b) { return a->command < b->command; });
  uint64_t longest = 0;
  for (size_t i = 0; i <= yields.size(); ++i) {
    const uint64_t from = i == 0 ? 0 : yields[i - 1]->completed;
    uint64_t until = i == yields.size() ? run.cycles : yields[i]->completed;
    for (const contract::Event& event : run.events) {
      if (i < yields.size() && event.command < yields[i]->command) until = std::max(until, event.completed);
    }
    longest = std::max(longest, until - from);
  }
  return longest;
}

// The phases of all results, in the order of time.
std::vector<FirmwarePhase> all_phases(const Streamer& a, const Streamer& b) {
  std::vector<FirmwarePhase> phases;
  for (const Streamer* streamer : {&a, &b}) {
    for (const RunResult& result : streamer->results()) {
      phases.insert(phases.end(), result.phases.begin(), result.phases.end());
    }
  }
  std::stable_sort(phases.begin(), phases.end(), [](const auto& x, const auto& y) { return x.time < y.time; });
  return phases;
}

// Longest time from the start of a save to the interrupt behind it, the firmware's part included. The second of two
// phases kPreempt of a ring is the save.
uint64_t longest_restore(const std::vector<FirmwarePhase>& phases) {
  uint64_t longest = 0, restoring_since = 0;
  for (const FirmwarePhase& phase : phases) {
    if (phase.phase == Phase::kResume && restoring_since == 0) {
      restoring_since = phase.time;
    } else if (phase.phase == Phase::kResume) {
      longest = std::max(longest, phase.time - restoring_since);
      restoring_since = 0;
    }
  }
  return longest;
}

uint64_t longest_save(const std::vector<FirmwarePhase>& phases) {
  uint64_t longest = 0, saving_since = 0;
  std::map<uint32_t, bool> asked;
  for (const FirmwarePhase& phase : phases) {
    if (phase.phase == Phase::kPreempt && !asked[phase.ring]) {
      asked[phase.ring] = true;
    } else if (phase.phase == Phase::kPreempt) {
      asked[phase.ring] = false;
      saving_since = phase.time;
    } else if (phase.phase == Phase::kDispatch && saving_since != 0) {
      longest = std::max(longest, phase.time - saving_since);
      saving_since = 0;
    } else if (phase.phase == Phase::kDispatch || phase.phase == Phase::kResume) {
      asked[phase.ring] = false;
    }
  }
  return longest;
}

// All frames of both; the urgent ones come at moments that are drawn from a seed. Returns how long each of them waited
// for its start.
std::vector<uint64_t> stream(runtime::Device& device, Streamer& low, Streamer& high, uint64_t frame_cycles) {
  std::vector<uint64_t> delays;
  std::mt19937 random(7);
  std::uniform_int_distribution<uint64_t> jitter(0, frame_cycles);
  while (!low.finished() || !high.finished()) {
    uint64_t at = device.time() + frame_cycles;  // queued jobs take less each
    std::vector<uint64_t> ready;
    for (size_t i = 0; i < kBatch / 2 && !high.finished(); ++i) {
      at += 2 * frame_cycles + jitter(random);
      ready.push_back(at);
      high.queue({.not_before = at});
    }
    for (size_t i = 0; i < kBatch && !low.finished(); ++i) low.queue();
    const size_t first = high.results().size();
    low.collect();
    high.collect();
    for (size_t i = 0; i < ready.size(); ++i) {
      const runtime::JobTimes& times = high.results().at(first + i).times;
      EXPECT_GE(times.started, ready[i]) << "a job started before its time";
      delays.push_back(times.started - ready[i]);
    }
  }
  return delays;
}

// Every number of a run, to compare it with another.
std::string digest(const Streamer& low, const Streamer& high, const std::vector<uint64_t>& delays) {
  std::ostringstream text;
  for (const Streamer* streamer : {&low, &high}) {
    for (const RunResult& result : streamer->results()) {
      const runtime::JobTimes& times = result.times;
      text << result.cycles << ' ' << times.submitted << ' ' << times.accepted << ' ' << times.started << ' '
           << times.ended << ' ' << times.completed << ' ' << times.firmware_cycles << ' ' << times.blocked << ' '
           << times.preemptions << ' ' << times.save_cycles << '\n';
    }
  }
  for (const uint64_t delay : delays) text << delay << '\n';
  return text.str();
}

// The trace's axis of time finds the parts of interrupted jobs where they ran: the last part ends when the firmware saw
// the end, but for an interrupt's way.
void expect_parts_in_place(const Streamer& low, const std::vector<FirmwarePhase>& phases, uint64_t allowance) {
  for (RunResult result : low.results()) {
    result.phases = phases;  // those of other jobs' results, too
    const report::JobAxis axis(result, 0);
    EXPECT_EQ(axis.parts(), result.times.preemptions + 1U);
    EXPECT_LE(axis.time(result.cycles), result.times.ended);
    EXPECT_GE(axis.time(result.cycles) + allowance, result.times.ended);
  }
}

// Where the FIFOs hold all of a small network's commands, the sequencer is past its yields before anybody more urgent
// can come, and all of it is one segment: so on edge, but not with shorter FIFOs and a scratchpad into which its
// constants come in parts.
struct Machine {
  std::string name, preset;
  uint32_t fifo_depth = 0;  // 0: the preset's
  uint32_t spm_bytes = 0;   // likewise
  bool interrupts = true;   // something must have been interrupted
};

uint64_t largest(const Streamer& streamer, auto member) {
  uint64_t value = 0;
  for (const RunResult& result : streamer.results()) value = std::max<uint64_t>(value, result.times.*member);
  return value;
}

// To know how long a frame and its segments take. The context goes again, with its variables.
RunResult run_alone(runtime::Device& device, const Network& network) {
  Streamer alone(device, network);
  alone.run(1);
  return alone.results().front();
}

// One run with all its expectations. Returns its digest.
std::string run(const Machine& machine, const Network& low_network, const Network& high_network) {
  const std::string& preset = machine.name;
  platform::PlatformOptions platform = options(machine.preset);
  if (machine.fifo_depth > 0) platform.preset.caps.fifo_depth = machine.fifo_depth;
  if (machine.spm_bytes > 0) platform.preset.caps.spm_bytes = machine.spm_bytes;
  runtime::Device device = runtime::Device::open(platform::open_tlm_device(platform));
  const RunResult one = run_alone(device, low_network);
  const uint64_t segment = longest_segment(one);

  Streamer low(device, low_network, {.priority = 1});
  Streamer high(device, high_network, {.priority = 2});
  const std::vector<uint64_t> delays = stream(device, low, high, one.times.completed - one.times.submitted);
  low.expect_reference("on " + preset + ", interrupted");
  high.expect_reference("on " + preset + ", urgent");

  uint64_t preemptions = 0;
  for (const RunResult& result : low.results()) preemptions += result.times.preemptions;
  EXPECT_TRUE(preemptions > 0 || !machine.interrupts) << "nothing was interrupted: this test tested nothing";
  const uint64_t delay = *std::max_element(delays.begin(), delays.end());
  const uint64_t blocked = largest(high, &runtime::JobTimes::blocked);
  const std::vector<FirmwarePhase> phases = all_phases(low, high);
  const uint64_t save = longest_save(phases), restore = longest_restore(phases);
  const contract::Capabilities& caps = device.capabilities();
  const uint64_t told = low.program().blocking_cycles();
  const uint64_t allowance = kFirmwareAllowance * caps.clock_mhz / caps.cpu_clock_mhz;
  std::cout << preset << ": " << preemptions << " interruptions of " << low.results().size()
            << " jobs; worst wait of the urgent job " << delay << " device cycles, " << blocked
            << " of them blocked; longest segment " << segment << ", longest save " << save << ", longest restore "
            << restore << " (a job had at most " << largest(low, &runtime::JobTimes::saved_bytes)
            << " bytes saved and restored), firmware at most " << allowance << ", told bound " << told << "\n";
  expect_parts_in_place(low, phases, allowance);
  EXPECT_GT(blocked, 0U);
  EXPECT_LE(blocked, restore + segment + save + allowance);
  EXPECT_LE(delay, restore + segment + save + allowance);
  EXPECT_LE(delay, told);
  return digest(low, high, delays);
}

// The same in a process of its own; must be called before this one has opened a device.
std::string run_apart(const Machine& machine, const Network& low, const Network& high) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return "no pipe";
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string text = run(machine, low, high);
    size_t written = 0;
    while (written < text.size()) {
      const ssize_t count = ::write(ends[1], text.data() + written, text.size() - written);
      if (count <= 0) break;
      written += static_cast<size_t>(count);
    }
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string text;
  std::array<char, 4096> buffer{};
  for (ssize_t count = 0; (count = ::read(ends[0], buffer.data(), buffer.size())) > 0;) {
    text.append(buffer.data(), static_cast<size_t>(count));
  }
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  return text;
}

class Priorities : public testing::TestWithParam<Machine> {};

TEST_P(Priorities, BothStreamsAreExactAndTheUrgentOneWaitsNoLongerThanItsBound) {
  const auto low = wake_word("okay_nabu"), high = wake_word("hey_jarvis");
  if (!low || !high) GTEST_SKIP() << "not imported: the Python environment is missing (sim/setup.sh python)";
  const std::string other = run_apart(GetParam(), *low, *high);
  EXPECT_EQ(run(GetParam(), *low, *high), other) << "two runs differ";
}

INSTANTIATE_TEST_SUITE_P(Machines, Priorities,
                         testing::Values(Machine{"edge", "edge", 0, 0, false},
                                         Machine{"small_edge", "edge", 1, 1u << 15}, Machine{"nano", "nano"}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace npu::test
