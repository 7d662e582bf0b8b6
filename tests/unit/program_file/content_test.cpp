// SPDX-License-Identifier: Apache-2.0
// Files whose checksum is right and whose content says what no program says: each is refused with what is wrong.
#include <vector>

#include "hw/contract/gen/commands.h"
#include "hw/contract/stream.h"
#include "tests/unit/compiler/size_rule.h"
#include "tests/unit/program_file/fixture.h"

namespace npu::program_file {
namespace {

using contract::ErrorCode;
using contract::Opcode;

// The seed with variables, the one with loops, and those for sizes within bounds: one program, and several.
constexpr size_t kState = 0, kLoops = 1, kSizes = 3, kBounds = 4;

ProgramFile seed(size_t which) { return fuzz::program_seeds()[which]; }

void expect_refused(const ProgramFile& file, const std::string& words) {
  const auto [code, message] = error_in([&] { static_cast<void>(serialise(file)); });
  EXPECT_EQ(code, ErrorCode::kFileDamaged) << words;
  EXPECT_NE(message.find(words), std::string::npos) << message;
  EXPECT_NE(message.find("compile the network again"), std::string::npos) << message;
}

// Where commands with an opcode begin in the main stream.
std::vector<size_t> places_of(const compiler::Program& program, Opcode opcode) {
  std::vector<size_t> places;
  size_t at = 0;
  (void)contract::for_each_command(std::span(program.commands).first(program.main_words),
                                   [&](const contract::Header& header, auto) {
                                     if (header.opcode == opcode) places.push_back(at);
                                     at += header.words;
                                     return true;
                                   });
  return places;
}

TEST(ProgramContent, OfImpossibleMachinesIsRefused) {
  ProgramFile file = seed(kState);
  file.capabilities.mxu_cols = 0;
  expect_refused(file, "mxu_cols of its machine is 0");
  file.capabilities.mxu_cols = 12;
  expect_refused(file, "mxu_cols of its machine is 12");
  file = seed(kState);
  ++file.programs[0].caps_hash;
  expect_refused(file, "but those of its machine are");
}

TEST(ProgramContent, OfImpossiblePortsIsRefused) {
  ProgramFile file = seed(kState);
  file.programs[0].inputs[0].shape = {-1, 4};
  expect_refused(file, "input 'x' is INT8[-1, 4]");
  file.programs[0].inputs[0].shape.assign(33, 1);
  expect_refused(file, "input 'x' has 33 dimensions");
  file.programs[0].inputs[0].shape = {0};
  expect_refused(file, "input 'x' is INT8[0]");
  file.programs[0].inputs[0].shape.assign(8, int64_t{1} << 31);
  expect_refused(file, "which cannot be");
  for (const uint32_t type : {0U, 99U}) {
    file = seed(kState);
    file.programs[0].outputs[0].type = static_cast<graph::DType>(type);
    expect_refused(file, "output 'y' is ");
  }
  file = seed(kState);
  file.programs[0].inputs.push_back(file.programs[0].inputs[0]);
  expect_refused(file, "input 'x' twice");
  file = seed(kState);
  file.programs[0].outputs.push_back(file.programs[0].outputs[0]);
  file.programs[0].outputs[1].shape = {2, 2};
  expect_refused(file, "output 'y' twice, as different tensors");
}

TEST(ProgramContent, OfImpossibleVariablesIsRefused) {
  const ProgramFile good = seed(kState);
  ASSERT_EQ(good.programs[0].variables.size(), 1U);
  ProgramFile file = good;
  compiler::Variable& variable = file.programs[0].variables[0];
  variable.bytes = 5;
  expect_refused(file, "variable 'sum/state' has 5 bytes");
  variable = good.programs[0].variables[0];
  ++variable.hash;
  expect_refused(file, "but it is INT8[1, 4]");
  variable = good.programs[0].variables[0];
  variable.initial.pop_back();
  expect_refused(file, "has 3 bytes of the initial value");
  variable = good.programs[0].variables[0];
  variable.type = graph::DType::kBool;
  variable.hash = compiler::variable_hash(variable.type, variable.shape);
  expect_refused(file, "element 1 of variable 'sum/state' is 2");
  variable = good.programs[0].variables[0];
  variable.read_bytes = ~uint64_t{0};
  expect_refused(file, "bytes of variable 'sum/state', which cannot be");
  variable = good.programs[0].variables[0];
  file.programs[0].variables.push_back(good.programs[0].variables[0]);
  expect_refused(file, "has variable 'sum/state' twice");
}

TEST(ProgramContent, OfImpossibleLayersIsRefused) {
  const ProgramFile good = seed(kState);
  ProgramFile file = good;
  compiler::Layer& layer = file.programs[0].layers[0];
  const auto refused = [&](const std::string& what) {
    expect_refused(file, what + " that cannot be");
    layer = good.programs[0].layers[0];
  };
  layer.engine = static_cast<contract::Engine>(9);
  refused("an engine");
  layer.macs = -1;
  refused("a number of MACs");
  layer.tiles = -1;
  refused("a number of tiles");
  layer.estimated_cycles = uint64_t{1} << 60;
  refused("an estimate of cycles");
  layer.kernel = {1, 1, 1, 1};
  refused("a kernel");
  layer.stride = {0};
  refused("a kernel");
  layer.output_shape.assign(33, 1);
  refused("a shape");
  layer.input_shape = {-2};
  refused("a shape");
  layer.macs = int64_t{1} << 60;
  expect_refused(file, "more MACs than can be");
  layer = good.programs[0].layers[0];
  file.programs[0].estimated_cycles = ~uint64_t{0};
  expect_refused(file, "an estimate of cycles");
}

TEST(ProgramContent, OfCommandsThatAreNoneIsRefused) {
  const ProgramFile good = seed(kState);
  ProgramFile file = good;
  std::vector<uint32_t>& commands = file.programs[0].commands;
  commands[0] |= 0xff;
  expect_refused(file, "command 0 is none");
  commands = good.programs[0].commands;
  commands[1] |= 0x80000000;  // reserved
  expect_refused(file, "command 0 is none");
  commands = good.programs[0].commands;
  file.programs[0].main_words = static_cast<uint32_t>(commands.size()) + 1;
  expect_refused(file, "its last command is missing");
  file.programs[0].main_words = good.programs[0].main_words - 1;
  expect_refused(file, "its last command is incomplete");
  file.programs[0].main_words = 0;
  expect_refused(file, "its last command is incomplete");
  file = good;
  --file.programs[0].command_count;
  expect_refused(file, "commands, but says");
}

TEST(ProgramContent, OfNamesThatAreNotThereIsRefused) {
  ProgramFile file = seed(kState);
  file.programs[0].variables.clear();
  expect_refused(file, "names a variable that does not exist");
  file = seed(kState);
  file.programs[0].layers.resize(1);
  expect_refused(file, "names a layer that does not exist");
}

// Otherwise the command would reach whatever variable has that place in the device's table.
TEST(ProgramContent, OfVariablesWithoutPatchIsRefused) {
  const ProgramFile good = seed(kState);
  ASSERT_GT(good.programs[0].patches.size(), 2U);
  for (size_t i = 0; i < good.programs[0].patches.size(); ++i) {
    ProgramFile file = good;
    file.programs[0].patches.erase(file.programs[0].patches.begin() + static_cast<ptrdiff_t>(i));
    expect_refused(file, "names a variable, but has no patch for it");
  }
}

TEST(ProgramContent, OfStreamsThatDoMoreThanSaveIsRefused) {
  const ProgramFile good = seed(kState);
  const std::vector<size_t> declares = places_of(good.programs[0], Opcode::kDeclare);
  ASSERT_FALSE(declares.empty());
  for (const bool restore : {false, true}) {
    ProgramFile file = good;
    std::vector<uint32_t>& commands = file.programs[0].commands;
    compiler::Segment segment;
    segment.yield_word = 0;
    (restore ? segment.restore_word : segment.save_word) = static_cast<uint32_t>(commands.size());
    (restore ? segment.restore_words : segment.save_words) = contract::DeclareCommand::kWords;
    for (uint32_t i = 0; i < contract::DeclareCommand::kWords; ++i) commands.push_back(commands[declares[0] + i]);
    file.programs[0].segments.push_back(segment);
    expect_refused(file, "does more than move bytes");
    compiler::Segment& longer = file.programs[0].segments.back();
    (restore ? longer.restore_words : longer.save_words) += 16;
    expect_refused(file, "a segment points behind the commands");
  }
}

TEST(ProgramContent, OfStreamsThatOverlapIsRefused) {
  ProgramFile file = seed(kLoops);
  compiler::Segment segment;
  segment.save_words = segment.restore_words = 2;
  segment.restore_word = 1;
  file.programs[0].segments.assign(1, segment);
  expect_refused(file, "streams of its segments overlap");
}

TEST(ProgramContent, OfMicroOperationsThatDoNotExistIsRefused) {
  ProgramFile file = seed(kState);
  const std::vector<size_t> places = places_of(file.programs[0], Opcode::kVpuEwise);
  ASSERT_FALSE(places.empty());
  const auto words = std::span(file.programs[0].commands).subspan(places[0]);
  const size_t length = contract::command_words(words);
  auto command = contract::VpuEwiseCommand::decode(words.first(length));
  ASSERT_FALSE(command.uops.empty());
  command.uops[0].op = static_cast<contract::UopCode>(0xfe);
  std::vector<uint32_t> changed;
  command.encode(changed);
  ASSERT_EQ(changed.size(), length);
  std::copy(changed.begin(), changed.end(), words.begin());
  expect_refused(file, "has a micro-operation that does not exist");
}

TEST(ProgramContent, OfLoopsThatAreNoneIsRefused) {
  const ProgramFile good = seed(kLoops);
  const std::vector<size_t> branches = places_of(good.programs[0], Opcode::kBranch);
  size_t loops = 0;
  for (const size_t at : branches) {
    const auto words = std::span(good.programs[0].commands).subspan(at, contract::BranchCommand::kWords);
    auto branch = contract::BranchCommand::decode(words);
    if (branch.mode != contract::BranchMode::kRepeat) continue;
    ++loops;
    for (const uint32_t target : {branch.target_index + 1, uint32_t{0xffffff}}) {
      ProgramFile file = good;
      branch.target_index = target;
      std::vector<uint32_t> changed;
      branch.encode(changed);
      std::copy(changed.begin(), changed.end(), file.programs[0].commands.begin() + static_cast<ptrdiff_t>(at));
      expect_refused(file, "goes back to a command that is not a label");
    }
  }
  EXPECT_GT(loops, 0U);
}

// label 0, label 1, back to 0, back to 1: the second goes into the first.
TEST(ProgramContent, OfLoopsThatOverlapIsRefused) {
  ProgramFile file = seed(kState);
  compiler::Program& program = file.programs[0];
  program.commands.clear();
  program.variables.clear();
  for (const uint32_t index : {0U, 1U}) {
    contract::LabelCommand label;
    label.header.queue = contract::Queue::kSequencer;
    label.index = index;
    label.encode(program.commands);
  }
  for (const uint32_t target : {0U, 1U}) {
    contract::BranchCommand branch;
    branch.header.queue = contract::Queue::kSequencer;
    branch.mode = contract::BranchMode::kRepeat;
    branch.target_index = target;
    branch.encode(program.commands);
  }
  program.main_words = static_cast<uint32_t>(program.commands.size());
  expect_refused(file, "goes back into a loop before it");
}

// tests/unit/runtime tries each thing that can be wrong with them.
TEST(ProgramContent, OfSizesThatDoNotFitIsRefused) {
  const ProgramFile good = seed(kSizes);
  EXPECT_EQ(parse(serialise(good)).programs[0].sizes.rules.size(), good.programs[0].sizes.rules.size());
  ProgramFile file = good;
  compiler::SizeTable& table = file.programs[0].sizes;
  table.rules[0].words[0] = file.programs[0].main_words;
  expect_refused(file, "is damaged: rule 0 of its sizes is for word");
  table = good.programs[0].sizes;
  table.rules[0].pieces.clear();
  expect_refused(file, "rule 0 of its sizes has 0 pieces");
  table = good.programs[0].sizes;
  table.expressions[1].a = 2;
  expect_refused(file, "expression 1 of its sizes takes value 2");
  table = good.programs[0].sizes;
  table.symbols[0].most = 5;
  expect_refused(file, "input 'x' has room for 4, but may be 5");
  table = good.programs[0].sizes;
  file.programs[0].outputs[0].sizes = {0};
  expect_refused(file, "output 'y' has 2 dimensions, and sizes of 1");
  // A rule for the word by which a command names a variable.
  file = good;
  const compiler::Patch& patch = file.programs[0].patches[0];
  table.rules.push_back(compiler::testing::rule_of(
      0, {{1, 0, static_cast<int32_t>(file.programs[0].commands[patch.word])}}, {patch.word}));
  expect_refused(file, "where it does not belong");
}

TEST(ProgramContent, OfImpossibleNumbersOfProgramsIsRefused) {
  ProgramFile file = seed(kBounds);
  ASSERT_EQ(file.programs.size(), 2U);
  EXPECT_EQ(parse(serialise(file)).programs.size(), 2U);
  file.programs.clear();
  expect_refused(file, "holds 0 programs, and a file has 1 to 32");
  file.programs.assign(32, seed(kBounds).programs[0]);
  EXPECT_EQ(parse(serialise(file)).programs.size(), 32U);
  file.programs.push_back(file.programs[0]);
  expect_refused(file, "holds 33 programs");
  file = seed(kState);
  file.programs.push_back(file.programs[0]);
  expect_refused(file, "it holds several programs, but their sizes are fixed");
}

// All of them run in one context, and which one a job takes is known only when its sizes are.
TEST(ProgramContent, OfProgramsThatDoNotBelongTogetherIsRefused) {
  const ProgramFile good = seed(kBounds);
  ProgramFile file = good;
  compiler::Program& other = file.programs[1];
  const auto refused = [&](const std::string& what) {
    expect_refused(file, "program 1 of it has other " + what + " than program 0");
    other = good.programs[1];
  };
  other.sizes.symbols[0].name = "y.1";
  refused("sizes");
  other.sizes = {};
  other.inputs[0].sizes = other.outputs[0].sizes = {};
  refused("sizes");
  other.inputs[0].name = "w";
  refused("inputs");
  other.inputs[0].type = graph::DType::kInt16;
  refused("inputs");
  other.inputs[0].accepts_unsigned = true;
  refused("inputs");
  other.inputs[0].shape = {4};
  other.inputs[0].sizes = {0};
  refused("inputs");
  other.inputs[0].shape[0] = 2;
  refused("inputs");
  other.outputs[0].sizes = {0, 0};
  refused("outputs");
  other.outputs.push_back(other.outputs[0]);
  other.outputs[1].name = "z";
  refused("outputs");
  compiler::Variable& variable = other.variables[0];
  variable.identity = "other";
  refused("variables");
  variable.in_dram = !variable.in_dram;
  refused("variables");
  variable.initial.clear();
  refused("variables");
  variable.shape = {4, 1};
  variable.hash = compiler::variable_hash(variable.type, variable.shape);
  refused("variables");
  variable.type = graph::DType::kBool;
  variable.initial.clear();
  variable.hash = compiler::variable_hash(variable.type, variable.shape);
  refused("variables");
  // What is wrong with any one of them is found.
  ++other.caps_hash;
  expect_refused(file, "but those of its machine are");
  other = good.programs[1];
  other.sizes.rules[0].pieces.clear();
  expect_refused(file, "rule 0 of its sizes has 0 pieces");
}

}  // namespace
}  // namespace npu::program_file
