#include "sim/report/trace.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "hw/contract/error.h"
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

  const fs::path folder = fs::path(testing::TempDir()) / ("npu_trace_" + std::to_string(::getpid()));
  const contract::Capabilities caps = presets::load_preset("nano").caps;
};

TEST_F(TraceTest, HasATrackPerQueueAndMarksForVariables) {
  TraceWriter writer(folder / "trace.json", sample_program(), caps);
  writer.add(sample_result());
  writer.add(sample_result());
  EXPECT_EQ(writer.finish(), 0u);
  const json trace = json::parse(std::ifstream(folder / "trace.json"));
  std::map<std::string, int> tracks, phases, marks;
  double last_end = 0;
  for (const json& record : trace["traceEvents"]) {
    ++phases[record["ph"]];
    if (record["name"] == "thread_name") ++tracks[record["args"]["name"]];
    if (record["ph"] == "i") ++marks[record["name"]];
    if (record["ph"] == "X") last_end = std::max(last_end, record["ts"].get<double>() + record["dur"].get<double>());
  }
  EXPECT_EQ(tracks.size(), 7u);  // invocations, sequencer, mxu, vpu, dma0, dma1, variables
  EXPECT_EQ(phases["X"], 2 * (8 + 1));
  EXPECT_EQ(marks["declare state \"1\""], 2);
  EXPECT_EQ(marks["read state \"1\""], 2);
  EXPECT_EQ(marks["write state \"1\""], 2);
  EXPECT_DOUBLE_EQ(last_end, 2 * 200 / 200.0);  // us at 200 MHz
  EXPECT_EQ(files(), 1u);
}

TEST_F(TraceTest, SlicesAreNamedAfterLayers) {
  TraceWriter writer(folder / "trace.json", sample_program(), caps);
  writer.add(sample_result());
  writer.finish();
  const json trace = json::parse(std::ifstream(folder / "trace.json"));
  for (const json& record : trace["traceEvents"]) {
    if (record["ph"] != "X" || record["tid"] != static_cast<int>(contract::Queue::kMxu)) continue;
    EXPECT_EQ(record["name"], "conv2d_4");
    EXPECT_DOUBLE_EQ(record["ts"], 65 / 200.0);
    EXPECT_DOUBLE_EQ(record["dur"], 60 / 200.0);
    EXPECT_EQ(record["args"]["stalled"], 15);
  }
}

TEST_F(TraceTest, LeavesNothingBehindUnlessFinished) {
  { TraceWriter writer(folder / "trace.json", sample_program(), caps); }
  EXPECT_EQ(files(), 0u);
}

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
