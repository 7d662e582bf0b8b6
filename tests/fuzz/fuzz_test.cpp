// SPDX-License-Identifier: Apache-2.0
// The fuzz target's checks on inputs that are known, with the ordinary compiler: what fuzzing starts from is legal, and
// what it found once stays repaired.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <set>

#include "driver/graph/file.h"
#include "driver/graph/operators.h"
#include "driver/graph/reader.h"
#include "driver/graph/validate.h"
#include "driver/graph/writer.h"
#include "tests/fuzz/judge.h"
#include "tests/fuzz/mutate.h"
#include "tests/fuzz/seeds.h"
#include "tests/unit/graph/samples.h"

namespace npu::fuzz {
namespace {

using contract::ErrorCode;

TEST(FuzzSeeds, ThereIsOneForEveryRowOfTheTableAndEveryOperatorOnShapes) {
  std::set<std::string> names;
  for (const Seed& seed : make_seeds()) {
    EXPECT_TRUE(names.insert(seed.name).second) << seed.name;
  }
  size_t rows = 0;
  for (const graph::Op op : graph::samples::all_operators()) {
    rows += std::max<size_t>(graph::info(op).types.size(), 1);
  }
  EXPECT_EQ(names.size(), rows + graph::samples::shape_operators().size() + 3);
}

// A seed that is refused leads nowhere.
TEST(FuzzSeeds, AreLegalAndComeToARun) {
  for (const Seed& seed : make_seeds()) {
    const Answer answer = judge(graph::serialize(seed.graph));
    EXPECT_EQ(answer.stage, Stage::kRun) << seed.name << ": " << answer.message;
    EXPECT_NE(answer.code, ErrorCode::kOperatorUnsupported) << seed.name << ": " << answer.message;
    EXPECT_NE(answer.code, ErrorCode::kTypeUnsupported) << seed.name << ": " << answer.message;
  }
}

// Many changes have to leave a graph legal: else fuzzing stays in the validator.
TEST(FuzzMutations, LeaveManyGraphsLegal) {
  constexpr uint64_t kChanges = 4;
  size_t legal = 0;
  size_t all = 0;
  for (const Seed& seed : make_seeds()) {
    const auto bytes = std::make_shared<const std::vector<uint8_t>>(graph::serialize(seed.graph));
    for (uint64_t number = 0; number < kChanges; ++number) {
      graph::Graph graph = graph::parse_tosa(bytes, seed.name);
      mutate(graph, number);
      legal += judge(graph::serialize(graph)).stage == Stage::kRun;
      ++all;
    }
  }
  EXPECT_GT(legal * 3, all);
  EXPECT_LT(legal, all);
}

void open_sizes(graph::Graph& graph) {
  for (graph::Region& region : graph.regions) {
    for (graph::Tensor& tensor : region.blocks.front().tensors) {
      if (tensor.has_data || tensor.type == graph::DType::kShape) continue;
      for (int64_t& size : tensor.shape) {
        if (size > 1) size = tensor.variable ? 0 : -1;
      }
    }
  }
}

// What is changed then are attributes, constants and shapes that the file gives: rules with open sizes get any of them.
TEST(FuzzMutations, OfGraphsThatLeaveSizesOpenEnd) {
  constexpr uint64_t kChanges = 12;
  size_t inferred = 0, all = 0;
  for (const Seed& seed : make_seeds()) {
    graph::Graph open = seed.graph;
    open_sizes(open);
    const auto bytes = std::make_shared<const std::vector<uint8_t>>(graph::serialize(open));
    for (uint64_t number = 0; number < kChanges; ++number) {
      graph::Graph graph = graph::parse_tosa(bytes, seed.name);
      if (number > 0) mutate(graph, number);
      const Answer answer = judge(graph::serialize(graph));
      inferred += answer.stage == Stage::kRun || answer.code == ErrorCode::kFeatureUnsupported;
      ++all;
    }
  }
  EXPECT_GT(inferred * 3, all);
}

// Resident memory at its highest, in MiB.
int64_t peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

TEST(FuzzRegressions, TakeLittleTimeAndMemory) {
  constexpr double kMostSeconds = 5;
  constexpr int64_t kMostMebibytes = 200;
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(NPU_FUZZ_REGRESSIONS)) {
    if (entry.path().extension() != ".tosa") {
      continue;
    }
    SCOPED_TRACE(entry.path().filename());
    const auto bytes = graph::read_file(entry.path(), 1 << 20);
    const std::clock_t start = std::clock();
    const int64_t before = peak_memory();
    static_cast<void>(judge(bytes));
    EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, kMostSeconds);
    EXPECT_LT(peak_memory() - before, kMostMebibytes);
    ++files;
  }
  EXPECT_GT(files, 0u) << "no file in " << NPU_FUZZ_REGRESSIONS;
}

}  // namespace
}  // namespace npu::fuzz
