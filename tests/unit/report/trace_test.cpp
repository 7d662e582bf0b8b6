// SPDX-License-Identifier: Apache-2.0
#include "sim/report/trace.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "hw/contract/error.h"
#include "sim/report/job_axis.h"
#include "tests/unit/report/fixture.h"

namespace npu::report {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct TraceTest : testing::Test {
  TraceTest() { fs::create_directories(folder); }
  ~TraceTest() override { fs::remove_all(folder); }

  [[nodiscard]] size_t files() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
  }

  // Parses the finished trace and names it.
  [[nodiscard]] json finish(TraceWriter& writer) const {
    EXPECT_EQ(writer.close(), 0u);
    writer.release().take_place();
    return json::parse(std::ifstream(folder / "trace.json"));
  }

  const fs::path folder = fs::path(testing::TempDir()) / ("npu_trace_" + std::to_string(::getpid()));
  const contract::Capabilities caps = presets::load_preset("nano").caps;
};

TEST_F(TraceTest, HasATrackPerQueueAndOnePerVariable) {
  TraceWriter writer(folder / "trace.json", sample_program(), caps);
  writer.add(sample_result());
  writer.add(sample_result());
  const json trace = finish(writer);
  std::map<std::string, int> tracks, phases, uses;
  double last_end = 0;
  for (const json& record : trace["traceEvents"]) {
    ++phases[record["ph"]];
    if (record["name"] == "thread_name") ++tracks[record["args"]["name"]];
    if (record.value("cat", "") == "variable") ++uses[record["name"]];
    if (record["ph"] == "X") last_end = std::max(last_end, record["ts"].get<double>() + record["dur"].get<double>());
  }
  EXPECT_EQ(tracks.size(), 7u);  // invocations, sequencer, mxu, vpu, dma0, dma1, the variable; no firmware ran
  EXPECT_EQ(tracks["state \"1\""], 1);
  EXPECT_EQ(phases["X"], 2 * (8 + 1 + 3));
  EXPECT_EQ(phases["i"], 0);
  EXPECT_EQ(uses["declare"], 2);
  EXPECT_EQ(uses["read"], 2);
  EXPECT_EQ(uses["write"], 2);
  EXPECT_DOUBLE_EQ(last_end, 2 * 200 / 200.0);  // us at 200 MHz
  EXPECT_EQ(files(), 1u);
}

TEST_F(TraceTest, SlicesAreNamedAfterLayers) {
  TraceWriter writer(folder / "trace.json", sample_program(), caps);
  writer.add(sample_result());
  const json trace = finish(writer);
  for (const json& record : trace["traceEvents"]) {
    if (record["ph"] != "X" || record["tid"] != static_cast<int>(contract::Queue::kMxu)) continue;
    EXPECT_EQ(record["name"], "conv2d_4");
    EXPECT_DOUBLE_EQ(record["ts"], 65 / 200.0);
    EXPECT_DOUBLE_EQ(record["dur"], 60 / 200.0);
    EXPECT_EQ(record["args"]["stalled"], 15);
  }
}

TEST_F(TraceTest, ArrowsGoFromWhatIsAwaitedToWhatWaits) {
  TraceWriter writer(folder / "trace.json", sample_program(), caps);
  writer.add(sample_result());
  writer.add(sample_result());
  std::map<int, std::vector<json>> arrows;
  std::map<int, std::vector<json>> slices;  // by track
  const json trace = finish(writer);
  for (const json& record : trace["traceEvents"]) {
    if (record["ph"] == "s" || record["ph"] == "f") arrows[record["id"]].push_back(record);
    if (record["ph"] == "X") slices[record["tid"]].push_back(record);
  }
  const auto command_at = [&](const json& end) {
    for (const json& slice : slices[end["tid"]]) {
      const double begin = slice["ts"], length = slice["dur"], at = end["ts"];
      if (begin <= at && at < begin + length) return slice["args"]["command"].get<int>();
    }
    return -1;
  };
  std::vector<std::pair<int, int>> commands;
  for (const auto& [id, ends] : arrows) {
    ASSERT_EQ(ends.size(), 2u);
    commands.emplace_back(command_at(ends[0]), command_at(ends[1]));
    EXPECT_LE(ends[0]["ts"], ends[1]["ts"]);
  }
  const std::vector<std::pair<int, int>> once = {{2, 4}, {3, 4}, {4, 5}, {4, 6}};
  std::vector<std::pair<int, int>> twice = once;
  twice.insert(twice.end(), once.begin(), once.end());
  EXPECT_EQ(commands, twice);
}

TEST_F(TraceTest, CountersAreThoseOfTheCommandsInFlight) {
  TraceWriter writer(folder / "trace.json", sample_program(), caps);
  writer.add(sample_result());
  std::map<std::string, std::vector<std::pair<double, double>>> counters;  // cycle, value
  const json trace = finish(writer);
  for (const json& record : trace["traceEvents"]) {
    if (record["ph"] != "C") continue;
    counters[record["name"]].emplace_back(record["ts"].get<double>() * 200, record["args"].begin()->get<double>());
  }
  using Points = std::vector<std::pair<double, double>>;
  EXPECT_EQ(counters["DRAM in flight"], (Points{{20, 640}, {60, 0}, {130, 100}, {190, 0}}));
  const Points rates = counters["DRAM rate"];
  ASSERT_EQ(rates.size(), 4u);
  EXPECT_DOUBLE_EQ(rates[0].second, 640.0 / 40);
  EXPECT_NEAR(rates[2].second, 100.0 / 60, 1e-6);
  EXPECT_EQ(rates[3].second, 0);
}

TEST(TraceLevels, BytesOfTheScratchpadCountFromTheirWriteToTheirLastUse) {
  using Uses = std::vector<std::vector<ScratchpadUse>>;
  const auto event = [](uint32_t command, uint64_t started, uint64_t completed) {
    return event_of(command, 0, contract::Queue::kDma0, started, started, completed);
  };
  const auto points = [](const std::vector<Level>& levels) {
    std::vector<std::pair<uint64_t, double>> out;
    for (const Level& level : levels) out.emplace_back(level.cycle, level.value);
    return out;
  };
  using Points = std::vector<std::pair<uint64_t, double>>;
  const std::vector<contract::Event> events = {event(0, 10, 20), event(1, 20, 40), event(2, 50, 60), event(3, 70, 80)};
  // 100 bytes, of which half are read, the other half is written anew and read.
  const Uses halves = {
      {{0, 100, true, true}}, {{0, 50, false, true}}, {{50, 100, true, true}}, {{50, 100, false, true}}};
  EXPECT_EQ(points(scratchpad_levels(events, halves)), (Points{{10, 100}, {20, 50}, {40, 0}, {50, 50}, {80, 0}}));
  // What is not dense takes what lies in its gaps along.
  const Uses gaps = {{{0, 40, true, true}}, {{20, 60, true, false}}, {{0, 100, false, false}}, {{0, 10, true, true}}};
  EXPECT_EQ(points(scratchpad_levels(events, gaps)), (Points{{10, 40}, {20, 60}, {60, 0}, {70, 10}, {80, 0}}));
}

TEST_F(TraceTest, SlicesOfDmaSayWhatTheyMove) {
  TraceWriter writer(folder / "trace.json", sample_program(), caps);
  writer.add(sample_result());
  std::map<uint32_t, std::string> moves;
  const json trace = finish(writer);
  for (const json& record : trace["traceEvents"]) {
    if (record["ph"] == "X" && record["args"].contains("moves"))
      moves[record["args"]["command"]] = record["args"]["moves"];
  }
  EXPECT_EQ(moves[2], "constants from DRAM");
  EXPECT_EQ(moves[3], "state");
  EXPECT_EQ(moves[4], "") << "it computes";
  EXPECT_EQ(moves[5], "activations or outputs to DRAM");
}

TEST_F(TraceTest, UsesOfAVariableLastAsLongAsTheirCommands) {
  TraceWriter writer(folder / "trace.json", sample_program(), caps);
  writer.add(sample_result());
  const json trace = finish(writer);
  size_t seen = 0;
  for (const json& record : trace["traceEvents"]) {
    if (record.value("cat", "") != "variable" || record["name"] == "declare") continue;
    const bool read = record["name"] == "read";
    EXPECT_DOUBLE_EQ(record["ts"], (read ? 22 : 125) / 200.0);
    EXPECT_DOUBLE_EQ(record["dur"], (read ? 8 : 15) / 200.0);
    EXPECT_EQ(record["args"]["layer"], read ? "conv2d_4" : "variable_write_9");
    EXPECT_EQ(record["args"]["variable"], "state \"1\"");
    ++seen;
  }
  EXPECT_EQ(seen, 2u);
}

// Slices of one track must not overlap.
TEST_F(TraceTest, OverlappingUsesOfAVariableGetFurtherTracks) {
  runtime::RunResult result = sample_result();
  result.events[2].completed = 135;  // the read ends when the write is under way
  TraceWriter writer(folder / "trace.json", sample_program(), caps);
  writer.add(result);
  writer.add(result);
  const json trace = finish(writer);
  std::map<std::string, int> tracks;
  std::map<int, double> end;
  for (const json& record : trace["traceEvents"]) {
    if (record["name"] == "thread_name") ++tracks[record["args"]["name"]];
    if (record.value("cat", "") != "variable") continue;
    EXPECT_GE(record["ts"].get<double>(), end[record["tid"]]);
    end[record["tid"]] = record["ts"].get<double>() + record["dur"].get<double>();
  }
  EXPECT_EQ(tracks["state \"1\""], 1);
  EXPECT_EQ(tracks["state \"1\" (2)"], 1);
  EXPECT_EQ(end.size(), 2u);
}

// What happened, on the clock of 200 MHz: device time 1,000 is 5 us.
TEST_F(TraceTest, FirmwareAndEnginesShareTheAxisOfDeviceTime) {
  TraceWriter writer(folder / "trace.json", sample_program(), caps);
  writer.add(sample_firmware_result(1000));
  runtime::RunResult last = sample_firmware_result(3000);
  last.phases.pop_back();  // the driver is told before the firmware is done
  writer.add(last);
  const json trace = finish(writer);
  std::vector<json> firmware, invocations, mxu;
  for (const json& record : trace["traceEvents"]) {
    if (record["ph"] != "X") continue;
    if (record["tid"] == 102) firmware.push_back(record);
    if (record["tid"] == 100) invocations.push_back(record);
    if (record["tid"] == static_cast<int>(contract::Queue::kMxu)) mxu.push_back(record);
  }
  ASSERT_EQ(invocations.size(), 2u);
  EXPECT_DOUBLE_EQ(invocations[0]["ts"], 1000 / 200.0);
  EXPECT_DOUBLE_EQ(invocations[0]["dur"], 300 / 200.0);
  EXPECT_DOUBLE_EQ(invocations[1]["ts"], 3000 / 200.0);
  EXPECT_EQ(invocations[1]["args"]["firmware_cycles"], 120);
  ASSERT_EQ(mxu.size(), 2u);
  EXPECT_DOUBLE_EQ(mxu[0]["ts"], (1050 + 65) / 200.0);
  EXPECT_DOUBLE_EQ(mxu[1]["ts"], (3050 + 65) / 200.0);
  // Idle phases are gaps; the last phase ends with the job.
  std::vector<std::string> names;
  for (const json& record : firmware) names.push_back(record["name"]);
  EXPECT_EQ(names, (std::vector<std::string>{"fetch", "dispatch", "complete", "fetch", "dispatch", "complete"}));
  EXPECT_DOUBLE_EQ(firmware[1]["ts"], 1040 / 200.0);
  EXPECT_DOUBLE_EQ(firmware[1]["dur"], 20 / 200.0);
  EXPECT_EQ(firmware[1]["args"]["ring"], 1);
  EXPECT_DOUBLE_EQ(firmware[5]["dur"], 30 / 200.0);
}

TEST_F(TraceTest, LeavesNothingBehindUnlessFinished) {
  { TraceWriter writer(folder / "trace.json", sample_program(), caps); }
  EXPECT_EQ(files(), 0u);
}

TEST(JobAxis, PutsThePartsOfAnInterruptedJobWhereTheyRan) {
  using contract::Phase;
  runtime::RunResult result = sample_firmware_result(1000);
  EXPECT_EQ(JobAxis(result, 7).parts(), 1u);
  EXPECT_EQ(JobAxis(result, 7).time(200), 1250u);
  // Stopped at its cycle 130, gone on at device time 2,000: first its scratchpad comes back, at 1,900.
  result.times.preemptions = 1;
  result.times.ended = 2070;
  for (const uint64_t cycle : {30, 130, 180}) {
    contract::Event yield = event_of(8, 0, contract::Queue::kSequencer, cycle, cycle, cycle);
    yield.opcode = static_cast<uint8_t>(contract::Opcode::kYield);
    result.events.push_back(yield);
  }
  result.phases = {{1040, Phase::kDispatch, 1}, {1100, Phase::kPreempt, 1}, {1200, Phase::kPreempt, 1},
                   {1300, Phase::kDispatch, 2}, {1900, Phase::kResume, 1},  {2000, Phase::kResume, 1},
                   {2080, Phase::kComplete, 1}};
  const JobAxis axis(result, 7);
  ASSERT_EQ(axis.parts(), 2u);
  EXPECT_EQ(axis.time(100), 1150u);
  EXPECT_EQ(axis.time(129), 1179u);
  EXPECT_EQ(axis.time(130), 2000u);
  EXPECT_EQ(axis.time(200), 2070u);
  result.phases.pop_back();
  result.phases.erase(result.phases.begin());  // the start is lost: one piece
  EXPECT_EQ(JobAxis(result, 7).parts(), 1u);
}

TEST(JobAxis, StartsWhereItIsToldWithoutFirmware) { EXPECT_EQ(JobAxis(sample_result(), 400).time(65), 465u); }

TEST_F(TraceTest, SaysWhenItCannotBeWritten) {
  for (const fs::path& path : {folder / "no" / "trace.json", folder}) {
    try {
      TraceWriter writer(path, sample_program(), caps);
      FAIL() << path;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), contract::ErrorCode::kCannotWrite);
    }
  }
  EXPECT_EQ(files(), 0u);
}

}  // namespace
}  // namespace npu::report
