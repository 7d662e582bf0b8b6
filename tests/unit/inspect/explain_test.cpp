// SPDX-License-Identifier: Apache-2.0
// What is said of a program against the program itself, of real networks and of random control flow.
#include "sim/inspect/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <string_view>

#include "driver/compiler/compile.h"
#include "driver/graph/builder.h"
#include "driver/graph/reader.h"
#include "hw/contract/gen/accesses.h"
#include "hw/contract/stream.h"
#include "sim/generator/random_control.h"
#include "tests/unit/seeds.h"

namespace npu::inspect {
namespace {

using compiler::Explanation;
using contract::MemoryAccess;
using contract::Region;
using ::testing::HasSubstr;

void for_each_command(const compiler::Program& program,
                      const std::function<void(size_t, const contract::AnyCommand&)>& visit) {
  size_t index = 0;
  const auto all = std::span(program.commands).first(program.main_words);
  ASSERT_TRUE(contract::for_each_command(all, [&](const contract::Header&, std::span<const uint32_t> words) {
    visit(index++, contract::decode_command(words));
    return true;
  }));
}

Explained explained(const graph::Graph& graph, const presets::Preset& machine, const compiler::Options& options = {}) {
  Explanation facts;
  compiler::Program program = compiler::compile(graph, machine.caps, options, &facts);
  const compiler::Program plain = compiler::compile(graph, machine.caps, options);
  EXPECT_EQ(program.commands, plain.commands) << "to explain a program must not change it";
  EXPECT_EQ(program.constants, plain.constants);
  return explain("net.tosa", machine, std::move(program), std::move(facts));
}

// Cycles in which MXU and VPU have nothing to do before they begin with commands of the step.
uint64_t idle_cycles(const Explained& all, uint32_t step) {
  uint64_t idle = 0;
  std::map<contract::Queue, uint64_t> done;
  for (const ScheduledCommand& command : all.commands) {
    const auto engine = contract::engine_of(command.queue);
    if (!engine || *engine == contract::Engine::kDma) continue;
    uint64_t& before = done[command.queue];
    if (command.step == step) idle += command.started - before;
    before = command.done;
  }
  return idle;
}

// Every step once, in order; those that others took up count in them.
void check_steps(const Explained& all) {
  uint32_t next = 0;
  for (const ExplainedStep& step : all.steps) {
    EXPECT_EQ(step.facts.index, next);
    next += static_cast<uint32_t>(step.facts.layers.size());
    int64_t tiles = 1;
    for (const Explanation::Axis& axis : step.facts.axes) {
      tiles *= axis.tiles();
      EXPECT_GE(axis.tile, 1);
      EXPECT_LE(axis.tile, axis.extent);
    }
    if (step.facts.axes.empty()) continue;
    EXPECT_EQ(step.facts.tiles, tiles);
    EXPECT_EQ(step.facts.cut == Explanation::Cut::kWhole, tiles == 1);
    int64_t bytes = 0;
    for (const Explanation::TileBuffer& buffer : step.facts.tile_buffers) bytes += buffer.slot_bytes;
    EXPECT_LE(bytes, step.facts.room);
    for (const Explanation::Operand& operand : step.facts.operands) {
      EXPECT_LT(operand.tile_buffer, static_cast<int32_t>(step.facts.tile_buffers.size()));
      if (operand.tile_buffer < 0) continue;
      EXPECT_EQ(step.facts.tile_buffers[static_cast<size_t>(operand.tile_buffer)].role == Explanation::Role::kConstants,
                operand.role == Explanation::Role::kConstants);
    }
  }
  EXPECT_EQ(next, all.facts.step_count);
  uint64_t cycles = 0, commands = 0;
  for (const ExplainedStep& step : all.steps) {
    cycles += step.charge.cycles();
    commands += step.commands;
    if (step.facts.engine != contract::Engine::kDma) {
      EXPECT_LE(step.constants.exposed, idle_cycles(all, step.facts.index)) << "step " << step.facts.index;
    }
    // A copy of a constant is the work of its step, and no load for it.
    const bool copies = step.facts.engine == contract::Engine::kDma;
    EXPECT_EQ(copies ? std::max(step.constants.bytes, step.bytes.constants) : step.constants.bytes,
              step.bytes.constants);
  }
  EXPECT_EQ(cycles, all.program.estimated_cycles);
  EXPECT_EQ(commands, all.commands.size());
  std::set<uint32_t> indices;
  for (const ScheduledCommand& command : all.commands) {
    EXPECT_TRUE(indices.insert(command.command).second);
    EXPECT_LE(command.issued, command.started);
    EXPECT_LE(command.started, command.done);
    for (const uint32_t awaited : command.awaits) EXPECT_LT(awaited, command.command);
  }
}

// No two places share a byte and a tick, and every byte of the scratchpad that a command touches lies in a place that
// is taken in its step.
void check_places(const Explained& all) {
  const std::vector<Explanation::Place>& places = all.facts.places;
  for (size_t a = 0; a < places.size(); ++a) {
    ASSERT_GE(places[a].address, 0);
    ASSERT_GT(places[a].bytes, 0);
    ASSERT_LE(places[a].address + places[a].bytes, all.facts.scratchpad_bytes);
    ASSERT_LE(places[a].first, places[a].last);
    for (size_t b = 0; b < a; ++b) {
      const bool bytes = places[a].address < places[b].address + places[b].bytes &&
                         places[b].address < places[a].address + places[a].bytes;
      const bool time = places[a].first <= places[b].last && places[b].first <= places[a].last;
      ASSERT_FALSE(bytes && time) << places[a].name << " and " << places[b].name;
    }
  }
  std::vector<uint32_t> step_of(all.program.command_count, UINT32_MAX);
  for (const ScheduledCommand& command : all.commands) step_of[command.command] = command.step;
  for_each_command(all.program, [&](size_t index, const contract::AnyCommand& any) {
    const auto check = [&](const MemoryAccess& access) {
      if (access.base.region != Region::kScratchpad || access.run == 0) return;
      int64_t low = static_cast<int64_t>(access.base.offset) + access.first;
      int64_t high = low + static_cast<int64_t>(access.run);
      for (uint32_t d = MemoryAccess::kMaxRank - access.rank; d < MemoryAccess::kMaxRank; ++d) {
        const int64_t far = (static_cast<int64_t>(access.dims[d].count) - 1) * access.dims[d].stride;
        (far < 0 ? low : high) += far;
      }
      ASSERT_NE(step_of[index], UINT32_MAX);
      const int64_t first = step_of[index] * all.facts.ticks, last = first + all.facts.ticks - 1;
      const bool placed = std::any_of(places.begin(), places.end(), [&](const Explanation::Place& place) {
        return place.address <= low && high <= place.address + place.bytes && place.first <= last &&
               first <= place.last;
      });
      EXPECT_TRUE(placed) << "command " << index << " of step " << step_of[index] << ": bytes " << low << " to "
                          << high;
    };
    std::visit([&](const auto& command) { for_each_access(command, check); }, any);
  });
}

// The same figures from a map of the scratchpad, tick by tick.
void check_memory(const Explained& all) {
  constexpr int64_t kUnit = 64;  // every place begins and ends with one
  const auto units = static_cast<size_t>(all.facts.scratchpad_bytes / kUnit);
  std::vector<std::vector<const Explanation::Place*>> places_of_tick(all.facts.step_count *
                                                                     static_cast<size_t>(all.facts.ticks));
  int64_t peak = 0, live = 0;
  for (const Explanation::Place& place : all.facts.places) {
    ASSERT_EQ(place.address % kUnit + place.bytes % kUnit, 0);
    peak = std::max(peak, place.address + place.bytes);
    for (int64_t tick = place.first; tick <= place.last; ++tick) {
      places_of_tick.at(static_cast<size_t>(tick)).push_back(&place);
    }
  }
  ASSERT_EQ(all.memory.steps.size(), all.steps.size());
  for (const StepMemory& step : all.memory.steps) {
    int64_t used = -1, largest = 0;
    for (int64_t tick = step.step * all.facts.ticks; tick < (step.step + 1) * all.facts.ticks; ++tick) {
      std::vector<bool> taken(units);
      for (const Explanation::Place* place : places_of_tick[static_cast<size_t>(tick)]) {
        for (int64_t at = place->address; at < place->address + place->bytes; at += kUnit) {
          taken[static_cast<size_t>(at / kUnit)] = true;
        }
      }
      const auto sum = static_cast<int64_t>(std::count(taken.begin(), taken.end(), true)) * kUnit;
      if (sum <= used) continue;
      used = sum;
      int64_t run = 0;
      largest = 0;
      for (const bool one : taken) {
        run = one ? 0 : run + kUnit;
        largest = std::max(largest, run);
      }
    }
    EXPECT_EQ(step.used, used);
    EXPECT_EQ(step.free, all.facts.scratchpad_bytes - used);
    EXPECT_EQ(step.largest_piece, largest);
    EXPECT_EQ(step.fragmented(), step.denied > largest ? std::min(step.denied, step.free) - largest : 0);
    live = std::max(live, used);
  }
  EXPECT_EQ(all.memory.peak, peak);
  EXPECT_EQ(all.memory.peak, static_cast<int64_t>(all.program.spm_peak_bytes));
  EXPECT_EQ(all.memory.live_peak, live);
  int64_t most = 0;
  for (const Explanation::Denied& one : all.facts.denied) {
    EXPECT_GE(one.lost, 0);
    most = std::max(most, one.lost);
  }
  EXPECT_DOUBLE_EQ(all.memory.lost(), static_cast<double>(most) / static_cast<double>(all.facts.scratchpad_bytes));
}

void check_forms(const Explained& all) {
  const std::string text = to_text(all, {true, true});
  for (const ExplainedStep& step : all.steps) EXPECT_THAT(text, HasSubstr("step " + std::to_string(step.facts.index)));
  EXPECT_THAT(text, HasSubstr("lost to fragmentation"));
  const auto document = nlohmann::json::parse(to_json_text(all));
  EXPECT_EQ(document["schema"], "npu-explain");
  EXPECT_EQ(document["steps"].size(), all.steps.size());
  EXPECT_EQ(document["schedule"].size(), all.commands.size());
  EXPECT_EQ(document["memory"]["places"].size(), all.facts.places.size());
}

void check_all(const Explained& all) {
  check_steps(all);
  check_places(all);
  check_memory(all);
  check_forms(all);
}

#ifdef NPU_ZOO_DIR

// Bytes by DMA from and to DRAM, from the fields of the commands.
void check_bytes(const Explained& all) {
  uint64_t constants = 0, read = 0, written = 0;
  size_t others = 0;  // commands that the compiler's list does not have
  std::set<size_t> known;
  for (const ScheduledCommand& command : all.commands) known.insert(command.command);
  for_each_command(all.program, [&](size_t index, const contract::AnyCommand& any) {
    others += known.count(index) == 0 ? 1 : 0;
    const auto* dma = std::get_if<contract::DmaCommand>(&any);
    if (dma == nullptr) return;
    ASSERT_EQ(known.count(index), 1u);
    uint64_t bytes = dma->run_bytes;
    for (const uint32_t count : dma->count) bytes *= count;
    const auto in_dram = [&](const contract::Address& address) {
      return address.region == Region::kVariable ? all.program.variables[address.variable].in_dram
                                                 : address.region != Region::kScratchpad;
    };
    ASSERT_TRUE(dma->mode == contract::DmaMode::kCopy || dma->mode == contract::DmaMode::kFill);
    if (dma->mode == contract::DmaMode::kCopy && in_dram(dma->src)) {
      (dma->src.region == Region::kConstants ? constants : read) += bytes;
    }
    if (in_dram(dma->dst)) written += bytes;
  });
  EXPECT_EQ(others, 2 + all.program.segments.size()) << "begin, end and the yields";
  MovedBytes sum;
  for (const ExplainedStep& step : all.steps) sum += step.bytes;
  EXPECT_EQ(sum.constants, constants);
  EXPECT_EQ(sum.dram_read, read);
  EXPECT_EQ(sum.dram_written, written);
}
TEST(Explain, SaysOfRealNetworksWhatIsTrue) {
  namespace fs = std::filesystem;
  for (const char* name : {"ds_cnn_int8", "resnet8_int8", "vww_mbv1_025_int8", "transformer_relu_int8", "hey_jarvis",
                           "mobilenet_v2_int8", "lstm_step_int16x8"}) {
    const fs::path file = fs::path(NPU_ZOO_DIR) / name / (std::string(name) + ".tosa");
    if (!fs::exists(file)) continue;
    if (test::kSanitized && name == std::string_view("mobilenet_v2_int8")) continue;  // too long for them
    const graph::Graph graph = graph::read_tosa(file);
    for (const char* machine : {"edge", "nano"}) {
      SCOPED_TRACE(std::string(name) + " on " + machine);
      const Explained all = explained(graph, presets::load_preset(machine));
      check_all(all);
      check_bytes(all);
    }
  }
}

TEST(Explain, KnowsConstantsThatStay) {
  const std::filesystem::path file = std::filesystem::path(NPU_ZOO_DIR) / "ds_cnn_int8/ds_cnn_int8.tosa";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "no " << file;
  compiler::Options options;
  options.schedule.resident_constants = true;
  const presets::Preset edge = presets::load_preset("edge");
  const Explained all = explained(graph::read_tosa(file), edge, options);
  ASSERT_GT(all.program.resident_bytes, 0u);
  EXPECT_LT(all.facts.scratchpad_bytes, edge.caps.spm_bytes);
  for (const ExplainedStep& step : all.steps) EXPECT_EQ(step.constants.transfers, 0u);
  check_all(all);
}
#endif

TEST(Explain, SaysOfControlFlowWhatIsTrue) {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    check_all(explained(generator::random_control(seed), presets::load_preset("nano")));
  }
}

// Weights in several tiles, each of which is loaded while the step computes with the one before: the first of them
// under the layer before, which takes long enough for that.
TEST(Explain, TilesThatComeUnderTheirOwnStepAreNotExposed) {
  graph::GraphBuilder b;
  graph::TensorId x = b.input("x", graph::DType::kInt8, {1, 16, 16, 32});
  for (const auto& [kernel, from, to] : {std::tuple(3, 32, 64), {3, 64, 128}}) {
    const std::vector<double> values(static_cast<size_t>(to * kernel * kernel * from), 1);
    const graph::TensorId weights = b.constant(graph::DType::kInt8, {to, kernel, kernel, from}, values);
    const graph::TensorId bias =
        b.constant(graph::DType::kInt32, {to}, std::vector<double>(static_cast<size_t>(to), 1));
    const int32_t pad = kernel / 2;
    x = b.rescale(b.conv2d(x, weights, bias, {.pad = {pad, pad, pad, pad}}), graph::DType::kInt8,
                  {.multiplier = {1 << 30}, .shift = {40}});
  }
  b.output(x, "y");
  const Explained all = explained(b.build(), presets::load_preset("nano"));
  check_all(all);
  const ExplainedStep& step = all.steps.back();
  EXPECT_GT(step.constants.transfers, 1u);
  EXPECT_EQ(idle_cycles(all, step.facts.index), 0u);
  EXPECT_EQ(step.constants.exposed, 0u);
  // Of the first step, the first weights alone; the input ahead of them in the queue is none.
  const auto first = std::find_if(all.commands.begin(), all.commands.end(),
                                  [](const ScheduledCommand& command) { return command.bytes.constants > 0; });
  ASSERT_NE(first, all.commands.end());
  EXPECT_GT(first->started, all.steps.front().begin);
  EXPECT_EQ(all.steps.front().constants.exposed, first->done - first->started);
}

// Who asked for bytes and did not get them; names as they fit into a line.
TEST(Explain, SaysWhoseBytesWereDenied) {
  graph::GraphBuilder b;
  b.output(b.op(graph::Op::kBitwiseNot, {b.input("x", graph::DType::kInt8, {1, 4})}), "y");
  Explanation facts;
  const presets::Preset nano = presets::load_preset("nano");
  compiler::Program program = compiler::compile(b.build(), nano.caps, {}, &facts);
  EXPECT_EQ(facts.denied.size(), 0u);
  facts.denied = {{0, 0, 1000, 0, "left", Explanation::Denied::Asked::kTiles},
                  {0, 1, 2000, 128, "right", Explanation::Denied::Asked::kBuffer},
                  {0, 0, 3000, 0, "", Explanation::Denied::Asked::kTiles}};
  Explanation::Place slot;
  slot.name = "a\nb";
  slot.step = 0;
  slot.bytes = 64;
  facts.places.push_back(slot);
  const Explained all = explain("net.tosa", nano, std::move(program), std::move(facts));
  const std::string text = to_text(all, {false, true});
  EXPECT_THAT(text, HasSubstr("step 0 slot 0: operand a\\x0ab\n"));
  EXPECT_THAT(text,
              HasSubstr("\n'left' gives its place to the tiles of step 0, and lives in DRAM: they asked for 1,000 "
                        "bytes\n"));
  EXPECT_THAT(text, HasSubstr("\n'right' lives in DRAM: 2,000 bytes in steps 0 to 1 were in too small pieces\n"));
  EXPECT_THAT(text, HasSubstr("\nstep 0 is cut smaller: 3,000 bytes were in too small pieces\n"));
  const auto denied = nlohmann::json::parse(to_json_text(all))["memory"]["denied"];
  ASSERT_EQ(denied.size(), 3u);
  EXPECT_EQ(denied[0]["asked"], "tiles");
  EXPECT_EQ(denied[1]["asked"], "buffer");
  EXPECT_EQ(denied[1]["lost_bytes"], 128);
}

// Two places with a gap in between, for which something asked.
TEST(Explain, CountsWhatIsLostToFragmentation) {
  Explanation facts;
  facts.scratchpad_bytes = 1000;
  facts.ticks = 2;
  facts.step_count = 2;
  for (const uint32_t index : {0u, 1u}) {
    Explanation::Step step;
    step.index = index;
    facts.steps.push_back(step);
  }
  const auto place = [&](int64_t address, int64_t bytes, int64_t first, int64_t last) {
    Explanation::Place one;
    one.address = address;
    one.bytes = bytes;
    one.first = first;
    one.last = last;
    facts.places.push_back(one);
  };
  place(0, 200, 0, 0);
  place(200, 100, 0, 1);
  place(600, 100, 1, 3);
  facts.denied.push_back({0, 1, 500, 60, "s"});
  facts.denied.push_back({1, 1, 700, 100, "t"});
  const MemoryLine line = memory_line(facts);
  EXPECT_EQ(line.peak, 700);
  EXPECT_EQ(line.live_peak, 300);
  EXPECT_DOUBLE_EQ(line.lost(), 100.0 / 1000);
  ASSERT_EQ(line.steps.size(), 2u);
  EXPECT_EQ(line.steps[0].used, 300);
  EXPECT_EQ(line.steps[0].largest_piece, 700);
  EXPECT_EQ(line.steps[0].fragmented(), 0);
  EXPECT_EQ(line.steps[1].used, 100);
  EXPECT_EQ(line.steps[1].free, 900);
  EXPECT_EQ(line.steps[1].largest_piece, 600);
  EXPECT_EQ(line.steps[1].fragmented(), 100) << "700 of 900 free bytes, and no piece has more than 600";
}

}  // namespace
}  // namespace npu::inspect
