// SPDX-License-Identifier: Apache-2.0
// The cache of programs by sizes, over a device that records what it gets and computes nothing.
#include "driver/specialise/program_cache.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <vector>

#include "driver/graph/builder.h"
#include "driver/graph/validate.h"
#include "driver/runtime/mock_hal.h"
#include "hw/contract/error.h"
#include "hw/presets/preset.h"
#include "tests/unit/errors/code_of.h"

namespace npu::specialise {
namespace {

using contract::ErrorCode;
using graph::DType;
using graph::TensorId;
using test::code_of;

// x [?, 4] XOR w [?, 4] XOR the state [1, 4].
graph::Graph open_graph() {
  graph::GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt8, {-1, 4}), w = b.input("w", DType::kInt8, {-1, 4});
  const TensorId state = b.variable("state", DType::kInt8, {1, 4}, std::vector<double>{1, 2, 3, 4});
  const TensorId old = b.read(state);
  const TensorId mixed = b.raw(graph::Op::kBitwiseXor, {x, w}, {}, DType::kInt8, {-1, 4});
  const TensorId y = b.raw(graph::Op::kBitwiseXor, {mixed, old}, {}, DType::kInt8, {-1, 4});
  b.output(y, "y");
  graph::Attributes axis;
  axis.axis = 0;
  b.write(state, b.raw(graph::Op::kReduceMax, {y}, axis, DType::kInt8, {1, 4}));
  graph::Graph graph = b.build();
  graph::validate(graph, graph::Sizes::kMayBeUnknown);
  return graph;
}

graph::GivenShapes rows(int64_t count) { return {{"w", {count, 4}}, {"x", {count, 4}}}; }

contract::Capabilities machine(uint32_t dram_mib) {
  contract::Capabilities caps = presets::load_preset("nano").caps;
  caps.dram_mib = dram_mib;
  return caps;
}

// Quickly: what programs are like is not of interest here.
compiler::Options options() {
  compiler::Options options;
  options.schedule.effort = compiler::Effort::kLeast;
  options.firmware = false;
  return options;
}

struct Opened {
  explicit Opened(uint64_t limit = ProgramCache::kNoLimit, uint32_t dram_mib = 8)
      : caps(machine(dram_mib)),
        device(runtime::Device::open(std::make_unique<runtime::MockHal>(caps), {.bypass_firmware = true})),
        context(device.create_context()),
        cache(context, caps, open_graph(), options(), limit) {}

  [[nodiscard]] uint64_t dram_used() const { return device.memory_use().dram_used; }

  contract::Capabilities caps;
  runtime::Device device;
  runtime::Context context;
  ProgramCache cache;
};

uint64_t bytes_of(int64_t count) { return Opened().cache.get(rows(count))->bytes; }

TEST(ProgramCache, CompilesEachChoiceOfSizesOnce) {
  Opened opened;
  const auto three = opened.cache.get(rows(3)), five = opened.cache.get(rows(5));
  EXPECT_EQ(opened.cache.get(rows(3)), three);
  EXPECT_EQ(three->program.program().outputs[0].shape, (graph::Shape{3, 4}));
  EXPECT_EQ(five->program.program().outputs[0].shape, (graph::Shape{5, 4}));
  const CacheCounts& counts = opened.cache.counts();
  EXPECT_EQ(counts.hits, 1u);
  EXPECT_EQ(counts.misses, 2u);
  EXPECT_EQ(counts.evictions, 0u);
  EXPECT_EQ(counts.programs, 2u);
  EXPECT_EQ(counts.bytes, three->bytes + five->bytes);
  EXPECT_EQ(counts.most_bytes, counts.bytes);
}

TEST(ProgramCache, CountsWhatTheDeviceGives) {
  Opened opened;
  const uint64_t before = opened.dram_used();
  static_cast<void>(opened.cache.get(rows(3)));
  static_cast<void>(opened.cache.get(rows(2000)));
  EXPECT_EQ(opened.dram_used() - before, opened.cache.counts().bytes);
}

TEST(ProgramCache, ProgramsShareTheVariables) {
  Opened opened;
  static_cast<void>(opened.cache.get(rows(3)));
  opened.context.write_variable("state", {DType::kInt8, {1, 4}, {9, 8, 7, 6}});
  static_cast<void>(opened.cache.get(rows(5)));
  ASSERT_EQ(opened.context.variables().size(), 1u);
  EXPECT_EQ(opened.context.read_variable("state").bytes, (std::vector<uint8_t>{9, 8, 7, 6}));
}

TEST(ProgramCache, DropsWhatWasUsedLongestAgo) {
  const uint64_t two = bytes_of(3) + bytes_of(4);
  ASSERT_EQ(bytes_of(3), bytes_of(5));  // whole pages
  Opened opened(two);
  const auto misses_of = [&](int64_t count) {
    const uint64_t before = opened.cache.counts().misses;
    static_cast<void>(opened.cache.get(rows(count)));
    return opened.cache.counts().misses - before;
  };
  EXPECT_EQ(misses_of(3), 1u);
  EXPECT_EQ(misses_of(4), 1u);
  EXPECT_EQ(misses_of(3), 0u);  // now 4 is the one used longest ago
  EXPECT_EQ(misses_of(5), 1u);
  EXPECT_EQ(opened.cache.counts().evictions, 1u);
  EXPECT_EQ(misses_of(3), 0u);
  EXPECT_EQ(misses_of(4), 1u);  // in place of 5
  EXPECT_EQ(misses_of(3), 0u);
  EXPECT_EQ(misses_of(5), 1u);
  EXPECT_EQ(opened.cache.counts().evictions, 3u);
  EXPECT_EQ(opened.cache.counts().programs, 2u);
  EXPECT_EQ(opened.cache.counts().bytes, two);
  EXPECT_EQ(opened.cache.counts().most_bytes, two);
}

TEST(ProgramCache, GivesMemoryBack) {
  Opened opened(bytes_of(3));
  static_cast<void>(opened.cache.get(rows(3)));
  const uint64_t used = opened.dram_used();
  for (int64_t count = 4; count < 40; ++count) static_cast<void>(opened.cache.get(rows(count)));
  EXPECT_EQ(opened.dram_used(), used);
  EXPECT_EQ(opened.cache.counts().evictions, 36u);
}

TEST(ProgramCache, PassesOverWhatIsHeld) {
  Opened opened(bytes_of(3));
  auto three = opened.cache.get(rows(3));
  auto four = opened.cache.get(rows(4));
  EXPECT_EQ(opened.cache.counts().evictions, 0u);
  EXPECT_EQ(opened.cache.counts().programs, 2u);  // beyond the limit
  EXPECT_EQ(opened.cache.get(rows(3)), three);
  four.reset();
  EXPECT_EQ(opened.cache.get(rows(3)), three);
  EXPECT_EQ(opened.cache.counts().evictions, 1u);
  EXPECT_EQ(opened.cache.counts().bytes, three->bytes);
}

TEST(ProgramCache, AJobKeepsItsProgram) {
  Opened opened(0);
  const uint64_t before = opened.dram_used();
  std::optional<runtime::Job> job = opened.cache.get(rows(3))->program.create_job();
  static_cast<void>(opened.cache.get(rows(4)));
  EXPECT_EQ(opened.cache.counts().evictions, 0u);
  EXPECT_EQ(opened.cache.counts().programs, 2u);
  EXPECT_EQ(opened.dram_used() - before, opened.cache.counts().bytes);
  job->set_input("x", {DType::kInt8, {3, 4}, std::vector<uint8_t>(12)});
  job.reset();
  static_cast<void>(opened.cache.get(rows(5)));
  EXPECT_EQ(opened.cache.counts().evictions, 2u);
  EXPECT_EQ(opened.dram_used() - before, opened.cache.counts().bytes);
}

TEST(ProgramCache, WithALimitOfNothingOnlyTheLastOneStays) {
  Opened opened(0);
  for (int64_t count = 1; count <= 3; ++count) static_cast<void>(opened.cache.get(rows(count)));
  EXPECT_EQ(opened.cache.counts().programs, 1u);
  EXPECT_EQ(opened.cache.counts().evictions, 2u);
  static_cast<void>(opened.cache.get(rows(3)));
  EXPECT_EQ(opened.cache.counts().hits, 1u);
}

TEST(ProgramCache, MakesRoomWhereTheDeviceIsFull) {
  Opened opened(ProgramCache::kNoLimit, 1);
  constexpr int64_t kMany = 40000;
  ASSERT_GT(2 * bytes_of(kMany), uint64_t{1} << 20);
  static_cast<void>(opened.cache.get(rows(kMany)));
  static_cast<void>(opened.cache.get(rows(kMany + 1)));
  EXPECT_EQ(opened.cache.counts().evictions, 1u);
  const auto held = opened.cache.get(rows(kMany));
  EXPECT_EQ(code_of([&] { static_cast<void>(opened.cache.get(rows(kMany + 2))); }), ErrorCode::kDramFull);
  EXPECT_EQ(opened.cache.counts().programs, 1u);
  EXPECT_EQ(opened.cache.get(rows(kMany)), held);
}

TEST(ProgramCache, WhatDoesNotFitChangesNothing) {
  Opened opened(0, 1);
  const auto three = opened.cache.get(rows(3));
  const uint64_t used = opened.dram_used();
  const auto refused = [&](const graph::GivenShapes& sizes) {
    return code_of([&] { static_cast<void>(opened.cache.get(sizes)); });
  };
  EXPECT_EQ(refused({{"x", {3, 4}}, {"w", {5, 4}}}), ErrorCode::kSizeMismatch);
  EXPECT_EQ(refused({{"x", {3, 5}}, {"w", {3, 5}}}), ErrorCode::kBadInput);
  EXPECT_EQ(refused({{"x", {3, 4}}}), ErrorCode::kBadInput);
  EXPECT_EQ(refused(rows(100000)), ErrorCode::kDramFull);
  const CacheCounts& counts = opened.cache.counts();
  EXPECT_EQ(counts.hits, 0u);
  EXPECT_EQ(counts.misses, 1u);
  EXPECT_EQ(counts.evictions, 0u);
  EXPECT_EQ(counts.bytes, three->bytes);
  EXPECT_EQ(opened.dram_used(), used);
}

}  // namespace
}  // namespace npu::specialise
