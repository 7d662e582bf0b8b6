// SPDX-License-Identifier: Apache-2.0
// What `npu cosim` makes of results: sums, verdicts, documents. The results are made here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <new>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "hw/contract/error.h"
#include "sim/regression/report.h"
#include "sim/tool/stop.h"

namespace npu::regression {
namespace {

using cosim::Block;
using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

TrialNumbers numbers(std::initializer_list<std::pair<uint64_t, uint64_t>> rtl_and_said) {
  TrialNumbers result;
  for (const auto& [rtl, said] : rtl_and_said) {
    ++result.trials;
    ++result.kinds["kind"];
    result.compared += 10;
    result.cycles.add(rtl, said);
  }
  return result;
}

void add(RegressionRun& run, Block block, const char* preset, bool held_back, const TrialNumbers& trials,
         uint64_t seed = 1) {
  Case one{"trials/" + std::to_string(run.cases.size()), preset, seed, TrialCase{block, held_back, 0, 2}};
  Result result;
  result.outcome = Outcome::kPassed;
  result.trials = trials;
  run.cases.push_back(std::move(one));
  run.results.push_back(std::move(result));
}

DeviceNumbers device_numbers() {
  DeviceNumbers numbers;
  numbers.tiles = numbers.exact = numbers.same_requests = 5;
  numbers.model_cycles = numbers.rtl_cycles = 100;
  return numbers;
}

TEST(WrongCycles, OfTilesRequestsAndTheDevice) {
  EXPECT_EQ(wrong_cycles(device_numbers()), "");
  DeviceNumbers numbers = device_numbers();
  numbers.exact = 3;
  EXPECT_EQ(wrong_cycles(numbers), "2 of 5 tiles take other cycles on RTL than the model says");
  numbers = device_numbers();
  numbers.same_requests = 4;
  EXPECT_EQ(wrong_cycles(numbers), "1 of 5 tiles ask for memory on RTL in other cycles than the schedule says");
  numbers = device_numbers();
  numbers.rtl_cycles = 101;
  EXPECT_EQ(wrong_cycles(numbers), "the device takes 101 cycles with its engines on RTL, 100 on the model alone");
}

TEST(ByBlock, AddsBatchesAndSeedsAndKeepsMachinesAndMemoriesApart) {
  RegressionRun run;
  add(run, Block::kVpu, "nano", false, numbers({{5, 5}}));
  add(run, Block::kMxu, "nano", false, numbers({{5, 5}, {6, 6}}));
  add(run, Block::kMxu, "nano", false, numbers({{7, 7}}), 2);
  add(run, Block::kMxu, "nano", true, numbers({{9, 8}}));
  add(run, Block::kMxu, "edge", false, numbers({{9, 9}}));
  const std::vector<BlockNumbers> blocks = by_block(run);
  ASSERT_EQ(blocks.size(), 3u);
  EXPECT_EQ(blocks[0].block, Block::kMxu);
  EXPECT_EQ(blocks[0].preset, "nano");
  EXPECT_EQ(blocks[0].seeds, (std::vector<uint64_t>{1, 2}));
  EXPECT_EQ(blocks[0].ideal.trials, 3u);
  EXPECT_EQ(blocks[0].ideal.kinds.at("kind"), 3u);
  EXPECT_TRUE(blocks[0].ideal.cycles.all_exact());
  EXPECT_FALSE(blocks[0].held_back.cycles.all_exact());
  EXPECT_EQ(blocks[1].preset, "edge");
  EXPECT_EQ(blocks[2].block, Block::kVpu);
}

// The document says `exact` of what was exact in every trial, and of nothing else.
TEST(Document, VerdictsFollowFromTheTrials) {
  RegressionRun run;
  add(run, Block::kMxu, "nano", false, numbers({{5, 5}, {6, 6}}));
  add(run, Block::kVpu, "nano", false, numbers({{5, 5}, {6, 7}}));
  TrialNumbers other_requests = numbers({{5, 5}});
  other_requests.port_differences = 1;
  add(run, Block::kMxu, "edge", true, other_requests);
  const std::string text = to_markdown(run, "document.md");
  EXPECT_THAT(text, HasSubstr("| mxu | nano | 2 | 20 | 0 | 100.00 % | 0.000 | +0 | exact |\n"));
  EXPECT_THAT(text, HasSubstr("| vpu | nano | 2 | 20 | 0 | 50.00 % | 0.500 | -1 | not exact |\n"));
  EXPECT_THAT(text, HasSubstr("| mxu | edge | 1 | 10 | 0 | 100.00 % | 0.000 | +0 | 1 | not exact |\n"));
  EXPECT_THAT(text, Not(HasSubstr("not complete")));
}

TEST(Document, SaysWhatIsMissing) {
  RegressionRun run;
  add(run, Block::kMxu, "nano", false, numbers({{5, 5}}));
  add(run, Block::kMxu, "nano", false, {});
  run.results[1].outcome = Outcome::kNotRun;
  EXPECT_THAT(to_markdown(run, "document.md"), HasSubstr("not complete:**\n\n- 1 of 2 cases: not_run\n"));
  EXPECT_TRUE(all_good(run));
  run.results[1].outcome = Outcome::kBroken;
  EXPECT_FALSE(all_good(run));
}

TEST(ResultOf, WhatThrowsIsBrokenAndNothingElseEnds) {
  const auto thrown = [](auto error) { return result_of([&]() -> Result { throw error; }); };
  EXPECT_EQ(thrown(std::bad_alloc()).outcome, Outcome::kBroken);
  EXPECT_EQ(thrown(std::runtime_error("why")).reason, "why");
  EXPECT_EQ(thrown(Error(contract::ErrorCode::kBadInput, "what")).outcome, Outcome::kBroken);
  EXPECT_THROW(thrown(tool::Stopped()), tool::Stopped);
  EXPECT_EQ(result_of([] { return Result{Outcome::kPassed, "", "", {}, {}}; }).outcome, Outcome::kPassed);
}

TEST(Reports, TellTheTilesOfNetworks) {
  RegressionRun run;
  run.cases.push_back({"network/a/nano/1", "nano", 1, NetworkCase{}});
  Result& result = run.results.emplace_back();
  result.outcome = Outcome::kFailed;
  result.device = device_numbers();
  result.device.exact = 4;
  result.device.same_requests = 3;
  const json device = json::parse(to_json_text(run))["results"][0]["device"];
  EXPECT_EQ(device["tiles"], 5);
  EXPECT_EQ(device["tiles_exact"], 4);
  EXPECT_EQ(device["tiles_same_requests"], 3);
}

TEST(Reports, TellAFailureInEveryForm) {
  RegressionRun run;
  add(run, Block::kMxu, "nano", false, numbers({{5, 6}}));
  Result& result = run.results[0];
  result.outcome = Outcome::kFailed;
  result.reason = "bits <differ> & more";
  result.bundle = "kept/tile";
  result.trials.failed = 1;
  EXPECT_THAT(to_table(run), HasSubstr("failed: trials/0: bits <differ> & more\n        npu replay kept/tile\n"));
  EXPECT_THAT(to_table(run), HasSubstr("1 case: 1 failed\n"));
  EXPECT_THAT(to_junit_text(run),
              HasSubstr("<failure type=\"failed\" message=\"bits &lt;differ&gt; &amp; more; npu replay "
                        "kept/tile\"/>"));
  const json document = json::parse(to_json_text(run));
  EXPECT_EQ(document["failed"], 1);
  EXPECT_EQ(document["results"][0]["reason"], "bits <differ> & more");
  EXPECT_EQ(document["blocks"][0]["ideal"]["failed"], 1);
  EXPECT_EQ(document["blocks"][0]["ideal"]["cycles"]["worst"], -1);
  EXPECT_TRUE(document["blocks"][0]["held_back"].is_null());
}

}  // namespace
}  // namespace npu::regression
