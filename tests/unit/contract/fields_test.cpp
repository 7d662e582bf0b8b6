// SPDX-License-Identifier: Apache-2.0
// The numbered fields of commands: where each is, and that nothing else changes with it.
#include "hw/contract/gen/fields.h"

#include <gtest/gtest.h>

#include <vector>

namespace npu::contract {
namespace {

template <typename Command>
std::vector<uint32_t> encoded(const Command& command) {
  std::vector<uint32_t> words;
  command.encode(words);
  return words;
}

// One of each opcode, with two elements in each group.
std::vector<std::vector<uint32_t>> one_of_each() {
  VpuEwiseCommand ewise;
  ewise.operands.resize(2);
  ewise.uops.resize(2);
  return {encoded(BeginCommand()), encoded(EndCommand()),     encoded(DeclareCommand()),  encoded(YieldCommand()),
          encoded(LabelCommand()), encoded(BranchCommand()),  encoded(DmaCommand()),      encoded(MxuCommand()),
          encoded(ewise),          encoded(VpuPoolCommand()), encoded(VpuReduceCommand())};
}

TEST(Fields, LieWhereTheReservedBitsAndTheHeaderAreNot) {
  size_t places = 0;
  for (const std::vector<uint32_t>& command : one_of_each()) {
    for (uint32_t i = 0; known(CommandField{i}); ++i) {
      for (size_t word = 0; word < command.size() + 3; ++word) {
        if (!has_field(command, word, CommandField{i})) continue;
        ++places;
        ASSERT_GE(word, kHeaderWords);
        std::vector<uint32_t> changed = command;
        const uint32_t most = 0xffffffffu >> (32 - info_of(CommandField{i}).width);
        set_field(changed[word], CommandField{i}, most);
        EXPECT_EQ(field_of(changed[word], CommandField{i}), most);
        EXPECT_TRUE(well_formed(changed)) << info_of(CommandField{i}).name;
        EXPECT_TRUE(reserved_zero(changed)) << info_of(CommandField{i}).name;
        set_field(changed[word], CommandField{i}, 0);
        EXPECT_EQ(changed, command) << info_of(CommandField{i}).name;
      }
    }
  }
  size_t fields = 0, repeated = 0;
  for (; known(CommandField{static_cast<uint32_t>(fields)}); ++fields) {
    repeated += info_of(CommandField{static_cast<uint32_t>(fields)}).group > 0 ? 1 : 0;
  }
  EXPECT_EQ(places, fields + repeated);  // each has one place in a command, in a group one in each of two elements
}

TEST(Fields, AreThoseOfTheStructures) {
  DmaCommand dma;
  dma.count = {7, 8, 9, 10, 11};
  dma.dst = {5, Region::kVariable, 0x1234};
  std::vector<uint32_t> words = encoded(dma);
  set_field(words[15], CommandField::kDmaCount2, 99);
  set_field(words[8], CommandField::kDmaDstVariable, 0x4321);
  dma.count[2] = 99;
  dma.dst.variable = 0x4321;
  EXPECT_EQ(words, encoded(dma));
  VpuEwiseCommand ewise;
  ewise.operands.resize(3);
  ewise.uops.resize(2);
  words = encoded(ewise);
  const size_t uops = VpuEwiseCommand::kWords + 3 * Operand::kWords;
  ASSERT_TRUE(has_field(words, uops + Uop::kWords + 1, CommandField::kVpuEwiseUopImm0));
  EXPECT_FALSE(has_field(words, uops - Uop::kWords + 1, CommandField::kVpuEwiseUopImm0));
  set_field(words[uops + Uop::kWords + 1], CommandField::kVpuEwiseUopImm0, 42);
  ewise.uops[1].imm0 = 42;
  EXPECT_EQ(words, encoded(ewise));
}

TEST(Fields, AreNotInDamagedCommands) {
  std::vector<uint32_t> dma = encoded(DmaCommand());
  EXPECT_TRUE(has_field(dma, 6, CommandField::kDmaSrcVariable));
  EXPECT_FALSE(has_field({}, 6, CommandField::kDmaSrcVariable));
  EXPECT_FALSE(has_field(std::span(dma).first(6), 6, CommandField::kDmaSrcVariable));
  EXPECT_FALSE(has_field(dma, 6, CommandField::kMxuSrcVariable));
  dma[0] = 0xffffffff;
  EXPECT_FALSE(has_field(dma, 6, CommandField::kDmaSrcVariable));
  EXPECT_FALSE(known(CommandField{1u << 31}));
}

TEST(Fields, FindWhatNamesVariables) {
  const auto named = [](const auto& command) {
    std::vector<std::pair<std::string_view, uint32_t>> out;
    const std::vector<uint32_t> words = encoded(command);
    for_each_variable(command, [&](const PlacedField& place, uint32_t variable) {
      EXPECT_TRUE(has_field(words, place.word, place.field));
      EXPECT_TRUE(info_of(place.field).names_variable);
      EXPECT_EQ(field_of(words[place.word], place.field), variable);
      out.emplace_back(info_of(place.field).name, variable);
    });
    return out;
  };
  using Named = std::vector<std::pair<std::string_view, uint32_t>>;
  DeclareCommand declare;
  declare.variable = 3;
  EXPECT_EQ(named(declare), (Named{{"declare.variable", 3}}));
  MxuCommand mxu;
  mxu.weights = {0, Region::kVariable, 8};
  EXPECT_EQ(named(mxu), (Named{{"mxu.weights.variable", 8}}));
  VpuEwiseCommand ewise;
  ewise.operands.resize(3);
  ewise.operands[2].base = {64, Region::kVariable, 9};
  EXPECT_EQ(named(ewise), (Named{{"vpu_ewise.operand.base.variable", 9}}));
  EXPECT_EQ(named(EndCommand()), Named{});
}

}  // namespace
}  // namespace npu::contract
