// SPDX-License-Identifier: Apache-2.0
// Table, JSON and CSV of the same run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sim/report/json.h"
#include "sim/report/roofline.h"
#include "sim/report/table.h"
#include "tests/unit/report/fixture.h"

namespace npu::report {
namespace {

using nlohmann::json;
using testing::HasSubstr;

TEST(Table, RowsSayWhatLimitsALayer) {
  const std::string text = to_table(sample_report());
  EXPECT_THAT(text, HasSubstr("conv2d_4          CONV2D             185  92.5 %"));
  EXPECT_THAT(text, HasSubstr("DRAM 35 %: first constants\n"));
  EXPECT_THAT(text, HasSubstr("200 cycles = 1.000 us at 200 MHz\n"));
  // What this run is worth, not what all are: one tile of one, 15 cycles; 100 of 200 cycles wait for DRAM.
  EXPECT_THAT(
      text, HasSubstr("MXU and VPU: formula, exact on RTL of one and two; 1 of 1 tiles waited for memory on the "
                      "chip, 15 cycles, which are not compared with RTL; 50.0 % of the cycles wait for DRAM, which is "
                      "not calibrated against RTL (docs/reference/cycle-accuracy.md)\n"));
  EXPECT_THAT(text, HasSubstr("DRAM                 65  32.5 %"));
  EXPECT_THAT(text, HasSubstr("causes    mxu compute 22.5 %, weight load first 20.0 %, dram latency 17.5 %, "));
  EXPECT_THAT(text, HasSubstr("1,040 bytes read (400 of them commands), 100 written"));
  EXPECT_THAT(text, HasSubstr("1 variable, 4 bytes"));
}

TEST(Table, SaysHowManyCommandsHadNoRecord) {
  Report report = sample_report();
  EXPECT_THAT(to_table(report), testing::Not(HasSubstr("records ")));
  report.events_lost = 1234;
  EXPECT_THAT(to_table(report), HasSubstr("records   1,234 commands completed without one"));
  EXPECT_THAT(to_roofline(report), HasSubstr("none, because commands completed without a record"));
  EXPECT_TRUE(json::parse(to_json(report)).at("total").at("roofline").is_null());
}

// With branches the records are what tells how much ran.
TEST(Table, WhatRecordsLackIsNoShare) {
  Report report = sample_report();
  report.branches = true;
  report.bound = {100, 100, 50, 640};
  EXPECT_THAT(to_table(report), HasSubstr("that the MXU could do"));
  report.events_lost = 1;
  const std::string text = to_table(report);
  EXPECT_THAT(text, HasSubstr("MACs      at least "));
  EXPECT_THAT(text, HasSubstr("bound     at least "));
  EXPECT_THAT(text, HasSubstr("; the total is at most "));
  EXPECT_THAT(text, testing::Not(HasSubstr("that the MXU could do")));
  EXPECT_TRUE(json::parse(to_json(report)).at("total").at("utilisation").is_null());
  EXPECT_TRUE(json::parse(to_json(report)).at("layers").at(0).at("utilisation").is_null());
}

TEST(Table, AMachineWithoutRtlIsNotCalledExact) {
  RunInfo info = sample_info();
  info.has_rtl = false;
  EXPECT_EQ(exact_on_rtl(info), "formula, exact on RTL of one and two; this machine has no RTL");
  info.rtl_presets.clear();
  EXPECT_EQ(exact_on_rtl(info), "formula");
}

TEST(Table, NamesFromAFileStayOnTheirLine) {
  Report report = sample_report();
  report.layers[0].layer.name = "model/block_1/\x1b[31mconvolution\nwith a long name";
  const std::string text = to_table(report);
  EXPECT_THAT(text, HasSubstr("...ion\\x0awith a long name  CONV2D"));
  EXPECT_THAT(text, testing::Not(HasSubstr("\x1b")));
}

TEST(Table, SequencesShowAverages) {
  Collector collector(sample_info(), sample_program());
  collector.add(sample_result());
  runtime::RunResult slow = sample_result();
  slow.cycles = 301;
  collector.add(slow);
  const std::string text = to_table(collector.finish({}, {}));
  EXPECT_THAT(text, HasSubstr("251 cycles an invocation (average of 2)"));  // 250.5
  EXPECT_THAT(text, HasSubstr("least 200, most 301; 501 cycles in all"));
  EXPECT_THAT(text, HasSubstr("state     none"));
}

TEST(Table, FunctionalRunsClaimNoTime) {
  Collector collector(sample_info(), sample_program());
  runtime::RunResult result = sample_result();
  result.cycles = 0;
  collector.add(result);
  const std::string text = to_table(collector.finish({}, {}));
  EXPECT_THAT(text, testing::Not(HasSubstr("cycles")));
  EXPECT_THAT(text, HasSubstr("no time"));
}

TEST(Table, LowUtilisationOfABusyArrayIsNamed) {
  Report report = sample_report();
  LayerRow& row = report.layers[0];
  row.charge = {};
  row.charge.causes[static_cast<size_t>(Cause::kMxuCompute)] = row.cycles = 100;
  row.charge.limits[static_cast<size_t>(Resource::kMxu)] = 100;
  row.mxu_busy = 100;
  row.macs = 640;  // of 6,400
  EXPECT_EQ(limited_by(report, row), "MXU 100 %: compute, array 10 % filled");
  row.cycles = 0;
  EXPECT_EQ(limited_by(report, row), "hidden behind other layers");
  row.commands = 0;
  EXPECT_EQ(limited_by(report, row), "nothing to do");
}

TEST(Roofline, IsTheLowerOfArrayAndDram) {
  Report report = sample_report();
  report.layers.resize(1);
  LayerRow& row = report.layers[0];
  row.macs = 6400;
  row.dram_read = 640;
  row.cycles = 400;
  row.bounds = {};
  row.bounds[static_cast<size_t>(Resource::kMxu)] = 100;
  row.bounds[static_cast<size_t>(Resource::kDram)] = 160;
  std::optional<Roofline> line = roofline_of(report, row);
  ASSERT_TRUE(line);
  EXPECT_EQ(line->roof, Resource::kDram);
  EXPECT_DOUBLE_EQ(line->intensity, 6400.0 / (640 + 100));
  EXPECT_DOUBLE_EQ(line->attainable, 40);
  EXPECT_DOUBLE_EQ(line->attained, 16);
  EXPECT_THAT(to_roofline(report), HasSubstr("conv2d_4              8.65        40.0      16.0   40 %  DRAM\n"));
  row.bounds[static_cast<size_t>(Resource::kMxu)] = 200;
  row.dram_read = row.dram_written = row.cycles = 0;
  line = roofline_of(report, row);
  EXPECT_EQ(line->roof, Resource::kMxu);
  EXPECT_THAT(to_roofline(report), HasSubstr("-        32.0         -  hidden  MXU\n"));
  row.macs = 0;
  EXPECT_FALSE(roofline_of(report, row));
  EXPECT_EQ(to_roofline(report), "");
}

TEST(Table, Numbers) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(1234567), "1,234,567");
  EXPECT_EQ(short_number(36480), "36.5k");
  EXPECT_EQ(short_number(999960), "1.0M");
  EXPECT_EQ(short_number(12), "12");
  EXPECT_EQ(duration(0.5), "0.500 us");
  EXPECT_EQ(duration(1234.5), "1.234 ms");
  EXPECT_EQ(duration(2.5e6), "2.500 s");
}

TEST(Json, LayersAddUpToTheTotal) {
  const json report = json::parse(to_json(sample_report(3)));
  EXPECT_EQ(report["schema"], "npu-report");
  EXPECT_EQ(report["schema_version"], kJsonSchemaVersion);
  EXPECT_EQ(report["run"]["invocations"], 3);
  EXPECT_EQ(report["total"]["cycles_sum"], 600);
  double cycles = 0, read = 0;
  std::map<std::string, double> busy;
  for (const json& layer : report["layers"]) {
    cycles += layer["cycles"].get<double>();
    read += layer["dram_read_bytes"].get<double>();
    double causes = 0;
    for (const auto& [name, value] : layer["cycles_by_cause"].items()) causes += value.get<double>();
    EXPECT_DOUBLE_EQ(causes, layer["cycles"].get<double>());
    double limits = 0;
    for (const auto& [name, value] : layer["limits"].items()) limits += value.get<double>();
    EXPECT_DOUBLE_EQ(limits, layer["cycles"].get<double>());
    for (const auto& [name, value] : layer["busy"].items()) busy[name] += value.get<double>();
  }
  EXPECT_DOUBLE_EQ(cycles, report["total"]["cycles"].get<double>());
  EXPECT_DOUBLE_EQ(read + report["total"]["command_fetch_bytes"].get<double>(), report["total"]["dram_read_bytes"]);
  for (const auto& [name, value] : report["total"]["busy"].items()) EXPECT_DOUBLE_EQ(busy[name], value.get<double>());
  EXPECT_TRUE(report["check"].is_null());
  EXPECT_TRUE(report["run"]["jitter"].is_null());
}

Report firmware_report() {
  Collector collector(sample_info(), sample_program());
  collector.add(sample_firmware_result(1000));
  runtime::RunResult slow = sample_firmware_result(2000);
  slow.times.completed += 100;
  slow.times.preemptions = 1;
  slow.times.blocked = 10;
  slow.times.saved_bytes = 64;
  collector.add(slow);
  return collector.finish({}, {});
}

TEST(Firmware, SaysWhatTheWayThroughItCosts) {
  const json cost = json::parse(to_json(firmware_report()))["firmware"];
  EXPECT_EQ(cost["cycles"], 120);
  EXPECT_EQ(cost["cycles_sum"], 240);
  EXPECT_EQ(cost["device_cycles"], 350);  // 300 and 400
  EXPECT_EQ(cost["device_cycles_min"], 300);
  EXPECT_EQ(cost["device_cycles_max"], 400);
  EXPECT_EQ(cost["engine_cycles"], 200);
  EXPECT_DOUBLE_EQ(cost["outside_engines"], 1 - 400.0 / 700);
  EXPECT_EQ(cost["preemptions"], 1);
  EXPECT_EQ(cost["blocked_cycles"], 5);
  EXPECT_EQ(cost["saved_bytes"], 32);
  const std::string text = to_table(firmware_report());
  EXPECT_THAT(text, HasSubstr("firmware  120 busy cycles of the control CPU an invocation"));
  EXPECT_THAT(text, HasSubstr("350 device cycles from doorbell to completion, 200 of them with the stream running: "
                              "42.9 % of the time outside the engines"));
  EXPECT_THAT(text, HasSubstr("preempted 1 times, 64 bytes saved"));
  EXPECT_THAT(to_csv(firmware_report()), HasSubstr(",120,350,200,0.428571,1,5\n"));
}

TEST(Firmware, IsAbsentWhereItWasBypassed) {
  Report report = sample_report();
  EXPECT_FALSE(report.firmware);
  report.info.firmware.clear();
  const json document = json::parse(to_json(report));
  EXPECT_TRUE(document["firmware"].is_null());
  EXPECT_TRUE(document["run"]["firmware"].is_null());
  EXPECT_THAT(to_table(report), testing::Not(HasSubstr("firmware")));
  EXPECT_THAT(to_csv(report), HasSubstr(",,,,,,\n"));
  Collector collector(sample_info(), sample_program());
  runtime::RunResult functional = sample_firmware_result(1000);
  functional.cycles = 0;
  collector.add(functional);
  EXPECT_FALSE(collector.finish({}, {}).firmware);
}

TEST(Json, NamesThatAreNoUtf8DoNotBreakIt) {
  Report report = sample_report();
  report.layers[0].layer.output = "\xff\xfe";
  EXPECT_TRUE(json::accept(to_json(report)));
}

// Field names of the document, nested ones with dots; names of capabilities and counters are the contract's.
void collect_fields(const json& value, const std::string& prefix, std::vector<std::string>& fields) {
  if (value.is_array()) {
    for (const json& element : value) collect_fields(element, prefix, fields);
  } else if (value.is_object()) {
    for (const auto& [name, inner] : value.items()) {
      const std::string path = prefix.empty() ? name : prefix + "." + name;
      fields.push_back(path);
      collect_fields(inner, path, fields);
    }
  }
}

TEST(Json, EveryFieldIsDefinedInTheReference) {
  std::ifstream file(NPU_REPORT_DOC);
  ASSERT_TRUE(file) << NPU_REPORT_DOC;
  std::stringstream text;
  text << file.rdbuf();
  Report report = firmware_report();
  report.variables.emplace_back();
  report.check = CheckResult{1, 1, "x"};
  report.info.jitter_seed = 1;
  report.loops.push_back({0, 0, {1}, 5});
  std::vector<std::string> fields;
  collect_fields(json::parse(to_json(report)), "", fields);
  for (const std::string& field : fields) {
    if (field.rfind("machine.capabilities.", 0) == 0) continue;
    if (field.rfind("queues.", 0) == 0 && field != "queues.queue") continue;
    EXPECT_THAT(text.str(), HasSubstr("`" + field + "`"));
  }
}

TEST(Csv, OneLineALayerAndQuotes) {
  const std::string text = to_csv(sample_report());
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
  EXPECT_THAT(text, HasSubstr("net.tosa,nano,conv2d_4,CONV2D,CONV2D+RESCALE,,mxu,\"a,\"\"b\"\"\",1x8x8x4,,3x3,"));
  std::stringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const bool quoted = line.find("\"a,") != std::string::npos;
    EXPECT_EQ(std::count(line.begin(), line.end(), ',') - (quoted ? 1 : 0), 29 + 7 + 18 + 5 + 5 + 4 + 6 - 1) << line;
  }
}

TEST(Hashes, ChangeWithWhatTheyStandFor) {
  compiler::Program program = sample_program();
  const std::string before = hash_program(program);
  EXPECT_EQ(before.size(), 64u);
  program.constants[0] ^= 1;
  EXPECT_NE(hash_program(program), before);
  presets::Preset preset = presets::load_preset("nano");
  const std::string machine = hash_machine(preset);
  preset.name = "another";
  EXPECT_EQ(hash_machine(preset), machine);
  preset.dram.t_rp_ns += 1;
  EXPECT_NE(hash_machine(preset), machine);
}

}  // namespace
}  // namespace npu::report
