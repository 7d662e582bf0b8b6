// SPDX-License-Identifier: Apache-2.0
// Variables come and go at random, and the persistent SRAM holds what a fresh one would.
#include "driver/runtime/variable_places.h"

#include <fmt/format.h>

#include <chrono>
#include <map>
#include <random>

#include "driver/runtime/variable_manager.h"
#include "tests/unit/runtime/fixture.h"

namespace npu::runtime {
namespace {

using contract::ErrorCode;

// The table as plain entries; checks that no two variables overlap.
struct PlainTable final : VariableEntries {
  explicit PlainTable(uint32_t entries) : contents(entries) {}
  void write_entries(std::span<const Write> entries) override {
    for (const Write& write : entries) contents.at(write.index) = write.entry;
  }
  std::vector<contract::VariableEntry> read_entries(std::span<const uint32_t> indices) override {
    std::vector<contract::VariableEntry> entries;
    for (const uint32_t index : indices) entries.push_back(contents.at(index));
    return entries;
  }
  std::vector<contract::VariableEntry> contents;
};

contract::Capabilities machine() {
  contract::Capabilities caps = small_machine();
  caps.psram_bytes = 2048;
  caps.var_entries = 32;
  return caps;
}

struct World {
  MockHal hal{machine()};
  PlainTable table{machine().var_entries};
  RangeAllocator dram{0, 1 << 20, 4096};
  VariableManager variables{hal, table, machine(), dram};
};

struct Held {
  uint32_t bytes = 0;
  bool doubled = false;
  std::vector<uint8_t> content;
};

TEST(Places, RandomComingAndGoingHoldsWhatAFreshMemoryWould) {
  const uint64_t seed = 20261122;
  std::mt19937_64 random(seed);
  World world;
  std::map<std::pair<uint16_t, std::string>, Held> held;
  std::set<uint16_t> busy;
  world.variables.is_quiet = [&](uint16_t owner) { return !busy.contains(owner); };
  const uint64_t capacity = world.variables.bytes();
  const auto rounded = [](const Held& one) {
    const uint64_t place = (one.bytes + 15) / 16 * 16;
    return one.doubled ? 2 * place : place;
  };
  uint64_t used = 0, allocated = 0, refused = 0, refused_busy = 0, compared = 0;
  for (int step = 0; step < 20'000; ++step) {
    busy.clear();
    if (random() % 8 == 0) busy.insert(static_cast<uint16_t>(1 + random() % 3));
    const auto owner = static_cast<uint16_t>(1 + random() % 4);
    const std::string identity = fmt::format("v{}", random() % 12);
    const auto at = held.find({owner, identity});
    if (at != held.end() && !busy.contains(owner) && random() % 2 == 0) {
      ASSERT_EQ(world.variables.read(*world.variables.find(owner, identity)), at->second.content)
          << "seed " << seed << ", step " << step;
      compared += at->second.bytes;
      used -= rounded(at->second);
      ASSERT_TRUE(world.variables.clear(owner, identity));
      held.erase(at);
      continue;
    }
    if (at != held.end()) continue;
    Held one{static_cast<uint32_t>(1 + random() % 300), random() % 3 == 0, {}};
    one.content.resize(one.bytes);
    for (uint8_t& byte : one.content) byte = static_cast<uint8_t>(random());
    compiler::Variable variable = int8_variable(identity, one.bytes, one.content);
    variable.written = true;
    const bool room = used + rounded(one) <= capacity, entry = held.size() < machine().var_entries;
    const ContextOptions options{.double_buffer = one.doubled};
    const uint64_t before = world.variables.bytes_used();
    const ErrorCode code = error_of([&] {
                             static_cast<void>(world.variables.declare(owner, {&variable, 1}, options));
                           }).first;
    ASSERT_EQ(world.variables.bytes_used(), before + (code == ErrorCode::kOk ? rounded(one) : 0));
    if (code == ErrorCode::kOk) {
      ASSERT_TRUE(room && entry) << "seed " << seed << ", step " << step;
      used += rounded(one);
      held[{owner, identity}] = one;
      ++allocated;
    } else if (!entry) {
      ASSERT_EQ(code, ErrorCode::kVariableTableFull);
      ++refused;
    } else if (!room) {
      ASSERT_EQ(code, ErrorCode::kPersistentFull);
      ++refused;
    } else {
      // Enough is free in all: only what may not move can be in the way.
      ASSERT_EQ(code, ErrorCode::kPersistentFull);
      ASSERT_FALSE(busy.empty()) << "seed " << seed << ", step " << step;
      ++refused_busy;
    }
    if (code == ErrorCode::kOk && random() % 4 == 0) {
      for (const auto& [key, other] : held) {
        if (busy.contains(key.first)) continue;
        ASSERT_EQ(world.variables.read(*world.variables.find(key.first, key.second)), other.content)
            << "seed " << seed << ", step " << step;
        compared += other.bytes;
      }
    }
  }
  std::cout << "seed " << seed << ": " << allocated << " allocated, " << refused << " did not fit, " << refused_busy
            << " were in the way of jobs, " << compared << " bytes compared\n";
  EXPECT_GT(allocated, 1000u);
  EXPECT_GT(refused, 100u);
  EXPECT_GT(compared, 100'000u);
}

TEST(Places, MovingKeepsFlagsAndTheCurrentPlace) {
  World world;
  compiler::Variable first = int8_variable("first", 900), second = int8_variable("second", 200);
  second.written = true;
  second.initial.assign(200, 7);
  compiler::Variable unwritten = int8_variable("unwritten", 16);
  static_cast<void>(world.variables.declare(1, std::vector{first}, {}));
  static_cast<void>(world.variables.declare(2, std::vector{second, unwritten}, {.double_buffer = true}));
  const uint32_t index = *world.variables.find(2, "second");
  world.variables.write(index, std::vector<uint8_t>(200, 9), "host");
  EXPECT_TRUE(has(world.table.contents[index].flags, contract::VariableFlag::kSecond));
  const uint64_t generation = world.variables.generation();
  world.variables.clear(1, "first");
  static_cast<void>(world.variables.declare(1, std::vector{int8_variable("big", 1000)}, {}));
  EXPECT_NE(world.variables.generation(), generation);
  EXPECT_EQ(world.variables.slot(index).place.address, 512u);  // behind the table
  EXPECT_EQ(world.table.contents[index].base, 512u);
  EXPECT_TRUE(has(world.table.contents[index].flags, contract::VariableFlag::kDoubleBuffered));
  EXPECT_FALSE(has(world.table.contents[index].flags, contract::VariableFlag::kSecond));
  EXPECT_EQ(world.variables.read(index), std::vector<uint8_t>(200, 9));
  EXPECT_EQ(world.variables.slot(index).last_writer, "host");
  EXPECT_EQ(world.table.contents[*world.variables.find(2, "unwritten")].flags, 0);
}

TEST(Places, TheSecondPlaceNeedsNoMoreRoomThanAFreshStart) {
  Opened opened;  // 960 bytes behind the table
  Context context = opened.device.create_context({.double_buffer = true});
  const LoadedProgram reader = context.load(make_program({int8_variable("v", 400, std::vector<uint8_t>(400, 5))}));
  compiler::Variable written = int8_variable("v", 400);
  written.written = true;
  const LoadedProgram writer = context.load(make_program({written}));
  EXPECT_TRUE(context.variables()[0].double_buffered);
  EXPECT_EQ(context.variables()[0].offset, 64u);
  EXPECT_EQ(context.read_variable("v").bytes, std::vector<uint8_t>(400, 5));
  EXPECT_EQ(opened.device.memory_use().persistent_used, 800u);
}

TEST(Places, WithoutRoomForTheSecondPlaceTheFirstStays) {
  for (const bool others : {false, true}) {
    Opened opened;
    Context context = opened.device.create_context({.double_buffer = true}), other = opened.device.create_context();
    if (others) static_cast<void>(other.load(make_program({int8_variable("o", 200, std::vector<uint8_t>(200, 6))})));
    const uint32_t length = others ? 400 : 496;
    const LoadedProgram reader =
        context.load(make_program({int8_variable("v", length, std::vector<uint8_t>(length, 5))}));
    const uint64_t offset = context.variables()[0].offset, used = opened.device.memory_use().persistent_used;
    compiler::Variable written = int8_variable("v", length);
    written.written = true;
    const auto [code, text] = error_of([&] { static_cast<void>(context.load(make_program({written}))); });
    EXPECT_EQ(code, ErrorCode::kPersistentFull);
    EXPECT_CONTAINS(text, "for its two places");
    EXPECT_CONTAINS(text, "psram_bytes: 2048 is the smallest");
    EXPECT_FALSE(context.variables()[0].double_buffered);
    EXPECT_EQ(context.variables()[0].offset, offset);
    EXPECT_EQ(opened.device.memory_use().persistent_used, used);
    EXPECT_EQ(context.read_variable("v").bytes, std::vector<uint8_t>(length, 5));
  }
}

// What is in the way moves, into the old place, too.
TEST(Places, OthersMakeRoomForTheSecondPlace) {
  Opened opened;
  Context context = opened.device.create_context({.double_buffer = true}), other = opened.device.create_context();
  const LoadedProgram reader = context.load(make_program({int8_variable("v", 384, std::vector<uint8_t>(384, 5))}));
  const LoadedProgram in_the_way = other.load(make_program({int8_variable("o", 192, std::vector<uint8_t>(192, 6))}));
  compiler::Variable written = int8_variable("v", 384);
  written.written = true;
  const LoadedProgram writer = context.load(make_program({written}));
  EXPECT_EQ(opened.device.memory_use().persistent_used, 960u);
  EXPECT_EQ(context.read_variable("v").bytes, std::vector<uint8_t>(384, 5));
  EXPECT_EQ(other.read_variable("o").bytes, std::vector<uint8_t>(192, 6));
}

TEST(Places, OneInsteadOfTwoKeepsTheCurrentContent) {
  World world;
  compiler::Variable variable = int8_variable("v", 40, std::vector<uint8_t>(40, 3));
  variable.written = true;
  static_cast<void>(world.variables.declare(1, {&variable, 1}, {.double_buffer = true}));
  uint8_t& flags = world.table.contents[0].flags;
  flags = with(flags, contract::VariableFlag::kWriting);  // and never came to its end
  static_cast<void>(world.variables.declare(1, {&variable, 1}, {}));
  EXPECT_EQ(flags, static_cast<uint8_t>(contract::VariableFlag::kIsWritten));
  EXPECT_EQ(world.variables.read(0), std::vector<uint8_t>(40, 3));
}

TEST(Places, VariablesOfContextsWithJobsInFlightStay) {
  Opened opened;
  opened.mock.on_start = [](MockHal&) {};
  Context a = opened.device.create_context(), b = opened.device.create_context(), c = opened.device.create_context();
  const LoadedProgram pa = a.load(make_program({int8_variable("a", 400)}));
  LoadedProgram pb = b.load(make_program({int8_variable("b", 64, std::vector<uint8_t>(64, 5))}));
  a.clear();
  Job job = pb.create_job();
  job.set_input(0, int8_value({1, 2, 3, 4}));
  job.start();
  const auto [code, text] = error_of([&] { static_cast<void>(c.load(make_program({int8_variable("c", 600)}))); });
  EXPECT_EQ(code, ErrorCode::kPersistentFull);
  EXPECT_CONTAINS(text, "wait for the end of the jobs in flight");
  opened.mock.end_job();
  EXPECT_TRUE(job.wait(std::chrono::seconds(1)));
  const LoadedProgram pc = c.load(make_program({int8_variable("c", 600)}));
  EXPECT_EQ(b.variables()[0].offset, 64u);
  EXPECT_EQ(b.read_variable("b").bytes, std::vector<uint8_t>(64, 5));
}

TEST(Places, WhatCannotBeReadCannotMove) {
  Opened opened;
  Context a = opened.device.create_context(), b = opened.device.create_context();
  const LoadedProgram pa = a.load(make_program({int8_variable("a", 400)}));
  const LoadedProgram pb = b.load(make_program({int8_variable("b", 64, std::vector<uint8_t>(64, 5))}));
  a.clear();
  opened.mock.wrong_words = {64 + 400};
  EXPECT_EQ(error_of([&] { static_cast<void>(a.load(make_program({int8_variable("c", 600)}))); }).first,
            ErrorCode::kPersistentFull);
  b.clear();
  const LoadedProgram pc = a.load(make_program({int8_variable("c", 600)}));
}

}  // namespace
}  // namespace npu::runtime
