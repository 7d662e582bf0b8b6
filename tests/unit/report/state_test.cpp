// SPDX-License-Identifier: Apache-2.0
// Which layer used which variable when, and what that moved.
#include "sim/report/state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sim/report/json.h"
#include "sim/report/table.h"
#include "tests/unit/report/fixture.h"

namespace npu::report {
namespace {

using nlohmann::json;
using testing::HasSubstr;

CommandInfo uses(std::vector<VariableAccess> accesses) {
  return {contract::Opcode::kDma, Transfer::kState, std::move(accesses)};
}

TEST(State, NamesReadersAndWritersWithTheirBytes) {
  const json state = json::parse(to_json(sample_report(3)))["state"];
  const json& variable = state["variables"][0];
  EXPECT_EQ(variable["readers"], json::parse(R"([{"layer": "conv2d_4", "commands": 1}])"));
  EXPECT_EQ(variable["writers"], json::parse(R"([{"layer": "variable_write_9", "commands": 1}])"));
  EXPECT_EQ(variable["traffic"]["on_chip_sram"], json::parse(R"({"read_bytes": 4, "written_bytes": 4})"));
  EXPECT_EQ(variable["traffic"]["dram"], json::parse(R"({"read_bytes": 0, "written_bytes": 0})"));
  EXPECT_EQ(variable["command_cycles"], 8 + 15);
  EXPECT_EQ(variable["extension_type"], false);
  EXPECT_EQ(state["traffic"], variable["traffic"]);
  EXPECT_EQ(state["command_cycles"], 23);
}

TEST(State, EqualInvocationsShareARange) {
  Collector collector(sample_info(), sample_program());
  for (int i = 0; i < 3; ++i) collector.add(sample_result());
  runtime::RunResult late = sample_result();
  late.events[5].completed += 1;
  collector.add(late);
  const json timeline = json::parse(to_json(collector.finish({}, {})))["state_timeline"];
  ASSERT_EQ(timeline["ranges"].size(), 2u);
  EXPECT_EQ(timeline["left_out"], 0);
  const json& first = timeline["ranges"][0];
  EXPECT_EQ(first["from"], 0);
  EXPECT_EQ(first["to"], 2);
  EXPECT_EQ(first["count"], 3);
  ASSERT_EQ(first["uses"].size(), 2u);
  EXPECT_EQ(first["uses"][0], json::parse(R"({"variable": "state \"1\"", "use": "read", "layer": "conv2d_4",
                                              "start": 22, "end": 30, "commands": 1})"));
  EXPECT_EQ(timeline["ranges"][1]["uses"][1]["end"], 141);
}

TEST(State, RangesAreBounded) {
  Collector collector(sample_info(), sample_program());
  runtime::RunResult result = sample_result();
  for (size_t i = 0; i < StateCollector::kMaxRanges + 5; ++i) {
    ++result.events[5].completed;
    collector.add(result);
  }
  const Report report = collector.finish({}, {});
  EXPECT_EQ(report.timeline.size(), StateCollector::kMaxRanges);
  EXPECT_EQ(report.timeline_left_out, 5u);
}

// Tiles of a layer become one use, from the start of the first to the end of the last.
TEST(State, TilesOfALayerAreOneUse) {
  const std::vector<CommandInfo> commands = {uses({{0, VariableUse::kRead}}), uses({{0, VariableUse::kRead}})};
  const std::vector<contract::Event> events = {event_of(0, 2, contract::Queue::kDma0, 0, 5, 9),
                                               event_of(1, 2, contract::Queue::kDma1, 0, 7, 20)};
  EXPECT_EQ(state_uses(events, commands), (std::vector<StateUse>{{0, 2, VariableUse::kRead, 5, 20, 2}}));
}

TEST(State, ACommandWithSeveralVariablesIsSharedOutAndCountedOnce) {
  compiler::Program program;
  program.variables.resize(3);
  for (const uint32_t i : {0, 1, 2}) program.variables[i].bytes = 10 * (i + 1);
  StateCollector collector(program);
  const std::vector<CommandInfo> commands = {uses({{0, VariableUse::kRead},
                                                   {0, VariableUse::kRead},
                                                   {1, VariableUse::kRead},
                                                   {2, VariableUse::kWrite},
                                                   {0, VariableUse::kWrite}})};
  contract::Event event = event_of(0, 0, contract::Queue::kVpu, 0, 10, 17);
  event.psram_read = 31;
  event.dram_written = 40;
  collector.add({&event, 1}, commands);
  const std::vector<VariableTraffic>& traffic = collector.traffic();
  EXPECT_EQ(traffic[0].bytes.sram_read + traffic[1].bytes.sram_read, 31u);
  EXPECT_EQ(traffic[0].bytes.sram_read, 10u);
  EXPECT_EQ(traffic[2].bytes.dram_written, 30u);
  EXPECT_EQ(traffic[0].bytes.dram_written, 10u);
  EXPECT_EQ(traffic[2].bytes.sram_read, 0u);
  EXPECT_EQ(traffic[0].cycles, 7u);
  EXPECT_EQ(collector.cycles(), 7u);
  EXPECT_EQ(traffic[0].users.size(), 2u);
}

TEST(State, TheTableSaysWhoMovesWhat) {
  const std::string text = to_table(sample_report());
  EXPECT_THAT(text, HasSubstr("4 bytes read and 4 written on chip, 0 and 0 in DRAM; these transfers take 23 cycles, of "
                              "which 0 are charged to moving state\n"));
  EXPECT_THAT(text, HasSubstr("4 bytes read by conv2d_4, 4 bytes written by variable_write_9\n"));
}

TEST(State, SaysWhereAVariableLiesAndWhy) {
  Report report = sample_report();
  report.memory.persistent_bytes = 4;
  const json sram = json::parse(to_json(report))["state"];
  EXPECT_EQ(sram["variables"][0]["place"], "persistent_sram");
  EXPECT_EQ(sram["dram_bytes"], 0);
  report.memory.persistent_bytes = report.memory.persistent_used = 64;
  runtime::VariableInfo& info = report.variables[0].info;
  info.in_dram = info.torn = info.double_buffered = true;
  info.offset = 0x100000000;
  info.last_writer = "host";
  info.invocations = 7;
  const json state = json::parse(to_json(report))["state"];
  const json& variable = state["variables"][0];
  EXPECT_EQ(state["dram_bytes"], 4);
  EXPECT_EQ(variable["place"], "dram");
  EXPECT_EQ(variable["place_reason"], "the persistent SRAM is full, and others move more for their size");
  EXPECT_EQ(variable["offset"], 0x100000000);
  EXPECT_EQ(variable["last_writer"], "host");
  EXPECT_EQ(variable["invocations"], 7);
  EXPECT_EQ(variable["torn"], true);
  EXPECT_EQ(variable["double_buffered"], true);
  EXPECT_THAT(to_table(report), HasSubstr("1 variable, 0 bytes of 64 in persistent SRAM, 4 bytes in DRAM\n"));
  EXPECT_THAT(to_table(report),
              HasSubstr("4 bytes at 0x100000000 of DRAM: the persistent SRAM is full, and others move "
                        "more for their size, two places, torn\n"));
  const auto reason = [&] { return json::parse(to_json(report))["state"]["variables"][0]["place_reason"]; };
  report.memory.persistent_bytes = 64;
  report.memory.persistent_used = 32;
  EXPECT_EQ(reason(), "the persistent SRAM has no room for its second place");
  report.memory.persistent_used = 64;
  EXPECT_EQ(reason(), "the persistent SRAM is full, and others move more for their size");
  report.memory.persistent_bytes = report.memory.persistent_used = 7;
  EXPECT_EQ(reason(), "its two places together are larger than the persistent SRAM");
  report.memory.persistent_bytes = 3;
  EXPECT_EQ(reason(), "it is larger than the persistent SRAM");
  report.info.state_in_dram = true;
  EXPECT_EQ(json::parse(to_json(report))["state"]["variables"][0]["place_reason"], "all state was sent there");
}

TEST(State, TypesBeyondTheSpecificationsTableAreMarked) {
  Report report = sample_report();
  report.variables[0].info.type = graph::DType::kInt16;
  EXPECT_THAT(to_table(report), HasSubstr(", a type beyond TOSA 1.0\n"));
  EXPECT_EQ(json::parse(to_json(report))["state"]["variables"][0]["extension_type"], true);
  for (const auto type : {graph::DType::kInt8, graph::DType::kFp16, graph::DType::kFp32}) {
    EXPECT_FALSE(is_extension_type(type));
  }
  for (const auto type : {graph::DType::kBool, graph::DType::kInt16, graph::DType::kInt32, graph::DType::kBf16}) {
    EXPECT_TRUE(is_extension_type(type));
  }
}

}  // namespace
}  // namespace npu::report
