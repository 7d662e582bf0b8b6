// SPDX-License-Identifier: Apache-2.0
// What a refusal for lack of room advises is done: the keys that its message names are changed in a machine's file, and
// the same work fits then, and does not with less.
#include "hw/contract/advice.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "driver/graph/builder.h"
#include "hw/presets/preset.h"
#include "tests/unit/advice/machine.h"

namespace npu {
namespace {

using graph::DType;
using graph::GraphBuilder;
using graph::TensorId;

constexpr int64_t kMib = 1 << 20;

// --- Networks

graph::Graph clamp_of(int64_t bytes) {
  GraphBuilder b;
  b.output(b.clamp(b.input("x", DType::kInt8, {bytes / 1024, 1024}), -50, 60), "y");
  return b.build();
}

// Variables that are read and written.
graph::Graph counters(int64_t count, int64_t bytes) {
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt8, {1, bytes});
  for (int64_t i = 0; i < count; ++i) {
    const TensorId variable = b.variable("v" + std::to_string(i), DType::kInt8, {1, bytes});
    b.declare(variable);
    b.output(b.read(variable), "y" + std::to_string(i));
    b.write(variable, x);
  }
  return b.build();
}

// Averages over a window of 180,000 bytes.
graph::Graph wide_average() {
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt16, {1, 300, 300, 1});
  b.output(b.avg_pool2d(x, {300, 300}, {1, 1}, {0, 0, 0, 0}), "y");
  return b.build();
}

// Its smallest tile has all results of an input channel. `beside`: bytes of an input and an output of their own.
graph::Graph deep_depthwise(int64_t multiplier, int64_t beside = 0) {
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt8, {1, 8, 8, 1});
  std::vector<double> values(static_cast<size_t>(9 * multiplier));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i * i % 251) - 125;
  const TensorId sums =
      b.depthwise_conv2d(x, b.constant(DType::kInt8, {3, 3, 1, multiplier}, values),
                         b.constant(DType::kInt32, {multiplier}, std::vector<double>(static_cast<size_t>(multiplier))));
  b.output(b.rescale(sums, DType::kInt8, {.multiplier = {1 << 30}, .shift = {40}}), "y");
  if (beside > 0) b.output(b.clamp(b.input("z", DType::kInt8, {1, beside}), -5, 5), "clamped");
  return b.build();
}

// --- Refusals

struct Refusal {
  std::string name;
  contract::ErrorCode code;
  Keys machine;                // what is changed in nano's file at first
  std::set<std::string> keys;  // that have to be advised, sooner or later
  std::function<void(const contract::Capabilities&)> work;
  bool try_less = true;
};

std::vector<Refusal> refusals() {
  using contract::ErrorCode;
  compiler::Options in_dram, two_places;
  in_dram.schedule.state_in_dram = true;
  const auto load = [](const graph::Graph& graph, const compiler::Options& options = {},
                       const runtime::ContextOptions& context = {}, int times = 1) {
    return [=](const contract::Capabilities& caps) {
      Machine machine(caps);
      for (int i = 0; i < times; ++i) machine.load(graph, options, context);
    };
  };
  return {
      {"SmallestTile",
       ErrorCode::kScratchpadFull,
       {{"spm_bytes", 16384}, {"spm_banks", 1}},
       {"spm_bytes"},
       load(deep_depthwise(1000))},
      {"SmallestTileAndItsConstants",
       ErrorCode::kScratchpadFull,
       {{"spm_bytes", 16384}, {"dram_mib", 4}},
       {"spm_bytes", "dram_mib"},
       load(deep_depthwise(1000, 3 * kMib))},
      // With INT16 the MXU would make sums of parts of the window.
      {"AverageOfInt16WithoutTheMxu",
       ErrorCode::kScratchpadFull,
       {{"mxu_int16", 0}},
       {"spm_bytes"},
       load(wide_average())},
      {"ProgramAlone", ErrorCode::kDramFull, {{"dram_mib", 8}}, {"dram_mib"}, load(clamp_of(7 * kMib))},
      // Fits but for what is shared with the firmware, and the events.
      {"ProgramWithWhatIsShared", ErrorCode::kDramFull, {{"dram_mib", 8}}, {"dram_mib"}, load(clamp_of(3900 << 10))},
      {"SmallestDram", ErrorCode::kDramFull, {{"dram_mib", 1}}, {"dram_mib"}, load(clamp_of(400 << 10))},
      {"ProgramBesideOthers",
       ErrorCode::kDramFull,
       {{"dram_mib", 8}},
       {"dram_mib"},
       load(clamp_of(1 * kMib), {}, {}, 4)},
      {"VariablesInDramOfOneProgram",
       ErrorCode::kDramFull,
       {{"dram_mib", 4}},
       {"dram_mib"},
       load(counters(3, 1 * kMib), in_dram)},
      {"VariablesInDramWithTwoPlaces",
       ErrorCode::kDramFull,
       {{"dram_mib", 4}},
       {"dram_mib"},
       load(counters(3, 450 << 10), in_dram, {.double_buffer = true})},
      {"VariablesInDramBesideOthers",
       ErrorCode::kDramFull,
       {{"dram_mib", 8}},
       {"dram_mib"},
       load(counters(2, 700 << 10), in_dram, {}, 3)},
      {"VariablesOfSeveralContexts",
       ErrorCode::kPersistentFull,
       {},
       {"psram_bytes"},
       load(counters(1, 5000), {}, {}, 2)},
      {"VariablesWithTwoPlaces",
       ErrorCode::kPersistentFull,
       {},
       {"psram_bytes"},
       load(counters(3, 2000), {}, {.double_buffer = true})},
      {"TableOfVariables", ErrorCode::kVariableTableFull, {}, {"var_entries"}, load(counters(40, 16))},
      {"TableOfVariablesOfSeveralContexts",
       ErrorCode::kVariableTableFull,
       {},
       {"var_entries"},
       load(counters(10, 16), {}, {}, 4)},
      // The larger table leaves too little beside it.
      {"TableInASmallMemory",
       ErrorCode::kVariableTableFull,
       {{"psram_bytes", 1024}},
       {"var_entries", "psram_bytes"},
       load(counters(20, 16), {}, {}, 2)},
      {"TooManyCommands",
       ErrorCode::kDramFull,
       {{"spm_bytes", 16384}, {"dram_mib", 8192}},
       {"spm_bytes"},
       [](const contract::Capabilities& caps) { static_cast<void>(compiler::compile(clamp_of(1900 * kMib), caps)); },
       false},
  };
}

// --- Machines

presets::Preset machine_of(const Keys& keys) {
  std::ifstream source(NPU_NANO);
  std::stringstream text;
  text << source.rdbuf();
  std::string yaml = text.str();
  for (const auto& [key, value] : keys) {
    const std::regex line("(^|\n)" + key + ": [0-9]+");
    EXPECT_TRUE(std::regex_search(yaml, line)) << key;
    yaml = std::regex_replace(yaml, line, "$1" + key + ": " + std::to_string(value));
  }
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("advice-" + std::to_string(getpid()) + ".yaml");
  std::ofstream(file) << yaml;
  presets::Preset preset = presets::load_preset(file.string());
  std::filesystem::remove(file);
  return preset;
}

// Empty: it fits.
std::string refuse(const Refusal& refusal, const Keys& machine, contract::ErrorCode* code) {
  try {
    refusal.work(machine_of(machine).caps);
    return "";
  } catch (const Error& error) {
    *code = error.code();
    return error.what();
  }
}

class Advice : public testing::TestWithParam<Refusal> {};

TEST_P(Advice, IsEnoughAndNoMoreThanThat) {
  const Refusal& refusal = GetParam();
  Keys machine = refusal.machine;
  std::set<std::string> advised;
  contract::ErrorCode code{};
  for (std::string message = refuse(refusal, machine, &code); !message.empty();
       message = refuse(refusal, machine, &code)) {
    SCOPED_TRACE(message);
    EXPECT_EQ(contract::exit_status(code), contract::exit_status(contract::ErrorCode::kDramFull));
    if (advised.empty()) {
      EXPECT_EQ(code, refusal.code);
    }
    const Keys keys = advice_in(message);
    ASSERT_FALSE(keys.empty());
    for (const auto& [key, value] : keys) {
      // Who follows the advice is not told the same again.
      ASSERT_TRUE(advised.insert(key).second);
      EXPECT_GT(value, machine_of(machine).caps.*contract::find_capability(key).member);
      machine[key] = value;
    }
  }
  EXPECT_EQ(advised, refusal.keys);
  if (!refusal.try_less) return;
  for (const std::string& key : advised) {
    Keys less = machine;
    less[key] = contract::find_capability(key).power_of_two ? machine[key] / 2 : machine[key] - 1;
    EXPECT_NE(refuse(refusal, less, &code), "") << key << ": " << less[key] << " is enough";
  }
}

INSTANTIATE_TEST_SUITE_P(Refusals, Advice, testing::ValuesIn(refusals()),
                         [](const auto& info) { return info.param.name; });

// Refusals that name no machine: do what the message says, and it works.
TEST(OtherAdvice, ReleasingAProgramMakesRoomInTheSharedMemory) {
  Machine machine(machine_of({{"dram_mib", 64}}).caps);
  const compiler::Program program = compiler::compile(clamp_of(1024), machine.caps);
  machine.load(clamp_of(1024));
  std::string message;
  while (message.empty()) {
    ASSERT_LT(machine.programs.size(), 1000u);
    try {
      machine.programs.push_back(machine.contexts[0].load(program));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), contract::ErrorCode::kDramFull);
      message = error.what();
    }
  }
  EXPECT_NE(message.find("that driver and firmware share"), std::string::npos) << message;
  EXPECT_NE(message.find("release programs or contexts"), std::string::npos) << message;
  EXPECT_GT(machine.programs.size(), 300u);
  machine.programs.pop_back();
  machine.programs.push_back(machine.contexts[0].load(program));
}

TEST(OtherAdvice, DestroyingAProgramBetweenFreePiecesMakesRoom) {
  Machine machine(machine_of({{"dram_mib", 8}}).caps);
  compiler::Program program = compiler::compile(clamp_of(1024), machine.caps);
  program.workspace_bytes = 2 * kMib;
  machine.load(clamp_of(1024));
  runtime::Context& context = machine.contexts[0];
  for (int i = 0; i < 3; ++i) machine.programs.push_back(context.load(program));
  machine.programs.pop_back();
  machine.programs.erase(machine.programs.begin() + 1);
  program.workspace_bytes = 4000 << 10;
  std::string message;
  try {
    static_cast<void>(context.load(program));
  } catch (const Error& error) {
    message = error.what();
  }
  EXPECT_NE(message.find("since loaded programs lie between; destroy programs"), std::string::npos) << message;
  EXPECT_TRUE(advice_in(message).empty()) << message;
  machine.programs.pop_back();
  static_cast<void>(context.load(program));
}

}  // namespace
}  // namespace npu
