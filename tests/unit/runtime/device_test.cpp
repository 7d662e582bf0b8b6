// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <random>

#include "tests/unit/runtime/fixture.h"

namespace npu::runtime {
namespace {

using contract::ErrorCode;
namespace reg = contract::reg;

TEST(Device, OpenReadsIdentityVersionCapabilitiesThenResets) {
  auto hal = std::make_unique<MockHal>(small_machine());
  MockHal& mock = *hal;
  std::vector<MockHal::Access> traffic = {MockHal::read(reg::kId), MockHal::read(reg::kContractVersion)};
  for (const contract::CapabilityInfo& info : contract::kCapabilities) {
    traffic.push_back(MockHal::read(info.register_offset));
  }
  traffic.push_back(MockHal::read(reg::kCapsHash));
  traffic.push_back(MockHal::write(reg::kControl, reg::kControlColdResetMask));
  mock.expect(traffic);
  const Device device = Device::open(std::move(hal), {.bypass_firmware = true});
  EXPECT_EQ(mock.deviation(), "");
  EXPECT_EQ(device.capabilities(), small_machine());
}

std::pair<ErrorCode, std::string> open_with(uint32_t offset, uint32_t value) {
  auto hal = std::make_unique<MockHal>(small_machine());
  hal->set_register(offset, value);
  return error_of([&] { static_cast<void>(Device::open(std::move(hal), {.bypass_firmware = true})); });
}

TEST(Device, RefusesWhatIsNoNpu) {
  const auto [code, text] = open_with(reg::kId, 0xdeadbeef);
  EXPECT_EQ(code, ErrorCode::kContractMismatch);
  EXPECT_CONTAINS(text, "0xdeadbeef");
}

TEST(Device, RefusesAnotherMajorVersion) {
  const auto [code, text] = open_with(reg::kContractVersion, 7 << reg::kContractVersionMajorLsb);
  EXPECT_EQ(code, ErrorCode::kContractMismatch);
  EXPECT_CONTAINS(text, "version 7.0");
}

TEST(Device, RefusesCapabilitiesOutOfRange) {
  const auto [code, text] = open_with(reg::kCapDmaChannels, 99);
  EXPECT_EQ(code, ErrorCode::kContractMismatch);
  EXPECT_CONTAINS(text, "dma_channels = 99");
}

TEST(Device, RefusesAHashThatContradictsTheCapabilities) {
  EXPECT_EQ(open_with(reg::kCapsHash, 1).first, ErrorCode::kContractMismatch);
}

TEST(Device, SoftResetKeepsVariablesAndColdResetForgetsThem) {
  Opened opened;
  Context context = opened.device.create_context();
  const LoadedProgram program = context.load(make_program({int8_variable("v", 4, {1, 2, 3, 4})}));
  opened.device.soft_reset();
  EXPECT_EQ(context.read_variable("v").bytes, (std::vector<uint8_t>{1, 2, 3, 4}));
  opened.device.cold_reset();
  EXPECT_TRUE(context.variables().empty());
  EXPECT_EQ(opened.device.memory_use().persistent_used, 0u);
}

TEST(Device, LoadPlacesEverythingOnceAndPatchesTheVariableIndices) {
  Opened opened;
  Context other = opened.device.create_context();
  const LoadedProgram first = other.load(make_program({int8_variable("a", 4, {1, 2, 3, 4})}));
  Context context = opened.device.create_context();
  const LoadedProgram loaded = context.load(make_program({int8_variable("a", 4)}));
  const uint64_t constants = loaded.constant_address(0);
  EXPECT_EQ(opened.mock.dram(constants + 6)[constants + 5], 15);
  // The commands lie in the page behind the constants; word 5 of the declare is at 8 + 5.
  const uint64_t commands = constants + 4096;
  EXPECT_EQ(opened.mock.dram(commands + 4096)[commands + 4 * (8 + 5)], 1);          // table entry of the declare
  EXPECT_EQ(opened.mock.dram(commands + 4096)[commands + 4 * (8 + 7 + 6) + 1], 1);  // and of the copy's source
  EXPECT_EQ(opened.mock.dram(commands + 4096)[commands + 4 * (8 + 7 + 6)], 15);     // region `variable` stays
  EXPECT_EQ(loaded.dram_bytes(), 6 + 4 * loaded.program().commands.size() + 256 + 64 + 64 + 4 * 64);
}

TEST(Device, ProgramsLeaveDeviceMemoryWithTheirLastHandle) {
  Opened opened;
  {
    Context context = opened.device.create_context();
    LoadedProgram program = context.load(make_program({int8_variable("v", 4)}));
    const Job job = program.create_job();
    EXPECT_EQ(opened.device.memory_use().dram_used, 6 * 4096u);
  }
  const MemoryUse use = opened.device.memory_use();
  EXPECT_EQ(use.dram_used, 0u);
  EXPECT_EQ(use.variables, 0u);
}

TEST(Device, LoadRefusesProgramsForOtherMachinesOrContracts) {
  Opened opened;
  Context context = opened.device.create_context();
  compiler::Program other = make_program();
  other.caps_hash ^= 1;
  EXPECT_EQ(error_of([&] { static_cast<void>(context.load(other)); }).first, ErrorCode::kContractMismatch);
  compiler::Program later = make_program();
  later.commands[5] = (contract::kContractMajor + 1) << 16;
  const auto [code, text] = error_of([&] { static_cast<void>(context.load(later)); });
  EXPECT_EQ(code, ErrorCode::kContractMismatch);
  EXPECT_CONTAINS(text, "version 2.0");
}

TEST(Device, LoadRefusesDamagedPrograms) {
  Opened opened;
  Context context = opened.device.create_context();
  const auto refused = [&](auto damage) {
    compiler::Program program = make_program({int8_variable("v", 4)});
    damage(program);
    return error_of([&] { static_cast<void>(context.load(program)); }).first == ErrorCode::kContractMismatch;
  };
  EXPECT_FALSE(refused([](compiler::Program&) {}));
  EXPECT_TRUE(refused([](compiler::Program& p) { p.commands.clear(); }));
  EXPECT_TRUE(refused([](compiler::Program& p) { p.commands.pop_back(); }));
  EXPECT_TRUE(refused([](compiler::Program& p) { p.commands[8] &= ~0xff00u; }));
  EXPECT_TRUE(refused([](compiler::Program& p) { p.command_count = 3; }));
  EXPECT_TRUE(refused([](compiler::Program& p) { p.variables.clear(); }));
  EXPECT_TRUE(refused([](compiler::Program& p) { p.variables[0].initial = {1}; }));
  EXPECT_TRUE(refused([](compiler::Program& p) { p.outputs[0].offset = 63; }));
  EXPECT_TRUE(refused([](compiler::Program& p) { p.inputs[0].bytes = 5; }));
  EXPECT_EQ(opened.device.memory_use().dram_used, 0u);
}

TEST(Device, LoadRefusesDamagedPatches) {
  using contract::CommandField;
  Opened opened;
  Context context = opened.device.create_context();
  const auto refusal = [&](auto damage) {
    compiler::Program program = make_program({int8_variable("v", 4), int8_variable("w", 4)});
    EXPECT_EQ(program.patches.size(), 4u);
    damage(program.patches[1], program);
    const auto [code, text] = error_of([&] { static_cast<void>(context.load(program)); });
    EXPECT_EQ(code, ErrorCode::kContractMismatch);
    EXPECT_CONTAINS(text, "compile it again");
    return text;
  };
  using compiler::Patch;
  using compiler::Program;
  const auto set_word = [&](uint32_t word) { return refusal([word](Patch& p, Program&) { p.word = word; }); };
  EXPECT_CONTAINS(set_word(1u << 30), "patch 1 is for word 1073741824, behind the commands");
  EXPECT_CONTAINS(refusal([](Patch& p, Program& all) { p.word = all.main_words; }), "behind the commands");
  EXPECT_CONTAINS(set_word(0), "is for dma.src.variable, but word 0 does not hold it");
  EXPECT_CONTAINS(refusal([](Patch& p, Program&) { ++p.word; }), "does not hold it");
  EXPECT_CONTAINS(refusal([](Patch& p, Program&) { p.field = CommandField::kDmaDstVariable; }), "does not hold it");
  EXPECT_CONTAINS(refusal([](Patch& p, Program&) { p.field = CommandField::kVpuEwiseOperandBaseVariable; }),
                  "does not hold it");
  EXPECT_CONTAINS(refusal([](Patch& p, Program&) { p.field = CommandField{9999}; }),
                  "field 9999, which no command has");
  EXPECT_CONTAINS(refusal([](Patch& p, Program&) { p.index = 2; }), "value 2 of source 0 there, which does not exist");
  EXPECT_CONTAINS(refusal([](Patch& p, Program&) { p.source = Patch::Source{7}; }), "of source 7");
  EXPECT_CONTAINS(refusal([](Patch& p, Program&) { p.field = CommandField::kDmaRunBytes; }), "which names none");
  EXPECT_CONTAINS(refusal([](Patch& p, Program&) { p.index = 1; }), "puts value 1 into dma.src.variable");
  EXPECT_EQ(opened.device.memory_use().dram_used, 0u);
}

// A patch of any bits is refused or puts a table index where the program names that variable.
TEST(Device, LoadStandsRandomPatches) {
  Opened opened;
  Context context = opened.device.create_context();
  std::mt19937 random(1);
  size_t refused = 0, loaded = 0;
  for (int i = 0; i < 3000; ++i) {
    compiler::Program program = make_program({int8_variable("v", 4), int8_variable("w", 4)});
    const std::vector<compiler::Patch> good = program.patches;
    compiler::Patch& patch = program.patches[random() % 4];
    const auto damaged = [&](uint32_t old, uint32_t most) { return random() % 2 == 0 ? old : random() % most; };
    patch.word = damaged(patch.word, program.main_words + 8);
    patch.field = static_cast<contract::CommandField>(damaged(static_cast<uint32_t>(patch.field), 150));
    patch.source = static_cast<compiler::Patch::Source>(damaged(0, 3));
    patch.index = damaged(patch.index, 4);
    const ErrorCode code = error_of([&] { static_cast<void>(context.load(program)); }).first;
    ++(code == ErrorCode::kOk ? loaded : refused);
    if (code != ErrorCode::kOk) {
      EXPECT_EQ(code, ErrorCode::kContractMismatch);
      continue;
    }
    const bool holds = std::any_of(good.begin(), good.end(), [&](const compiler::Patch& one) {
      return one.word == patch.word && one.field == patch.field && one.index == patch.index;
    });
    EXPECT_TRUE(holds) << "word " << patch.word << ", field " << info_of(patch.field).name;
  }
  EXPECT_GT(refused, 1000u);
  EXPECT_GT(loaded, 50u);
}

TEST(Device, SaysWhatDoesNotFitIntoDram) {
  Opened opened;
  Context context = opened.device.create_context();
  compiler::Program program = make_program();
  program.workspace_bytes = 3 << 20;
  const auto [code, text] = error_of([&] { static_cast<void>(context.load(program)); });
  EXPECT_EQ(code, ErrorCode::kDramFull);
  EXPECT_CONTAINS(text, "workspace 3145728");
  EXPECT_CONTAINS(text, "dram_mib: 4 ");
  EXPECT_EQ(opened.device.memory_use().dram_used, 0u);
}

TEST(Device, DebugAccessReachesDeviceMemory) {
  Opened opened;
  Context context = opened.device.create_context();
  const LoadedProgram program = context.load(make_program());
  std::vector<uint8_t> byte(1);
  opened.device.read_memory(program.constant_address(3), byte);
  EXPECT_EQ(byte[0], 13);
  opened.device.write_memory(program.constant_address(3), std::vector<uint8_t>{99});
  opened.device.read_memory(program.constant_address(3), byte);
  EXPECT_EQ(byte[0], 99);
  EXPECT_EQ(error_of([&] { static_cast<void>(program.constant_address(6)); }).first, ErrorCode::kBadOption);
  EXPECT_EQ(error_of([&] { opened.device.read_memory(2 << 20, byte); }).first, ErrorCode::kFaultBus);
}

}  // namespace
}  // namespace npu::runtime
