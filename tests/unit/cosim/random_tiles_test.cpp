// SPDX-License-Identifier: Apache-2.0
// The generators of random tiles: what `npu cosim` and the RTL's tests try is what engines can be asked for.
#include "sim/cosim/random_tiles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>
#include <map>
#include <set>
#include <tuple>

#include "hw/contract/elements.h"
#include "hw/contract/error.h"
#include "hw/contract/gen/accesses.h"
#include "hw/contract/gen/micro_operations.h"
#include "hw/engine/mxu_model.h"
#include "hw/engine/vpu_model.h"
#include "hw/presets/preset.h"
#include "tests/unit/bins/windows.h"

namespace npu::cosim {
namespace {

using contract::Capabilities;
using contract::Element;
using contract::ErrorCode;
using contract::Uop;
using contract::UopCode;
using contract::VpuEwiseCommand;

constexpr uint64_t kSeeds = 5'000, kMostCycles = 3'000;

// Scratchpad of a tile that runs by itself.
class Scratchpad final : public engine::MemoryView {
 public:
  explicit Scratchpad(const Tile& tile) : bytes_(tile.memory.at(0).bytes) {}
  std::span<uint8_t> resolve(const contract::Address& address, int64_t low, int64_t high, engine::Access) override {
    const int64_t begin = int64_t{address.offset} + low, end = int64_t{address.offset} + high;
    if (address.region != contract::Region::kScratchpad || begin < 0 || begin > end ||
        end > static_cast<int64_t>(bytes_.size())) {
      return {};
    }
    return std::span(bytes_).subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
  }

 private:
  std::vector<uint8_t> bytes_;
};

// Notes each byte that is asked for.
class Watched final : public engine::MemoryView {
 public:
  explicit Watched(const Tile& tile) : memory_(tile), asked_(tile.memory.at(0).bytes.size()) {}
  std::span<uint8_t> resolve(const contract::Address& address, int64_t low, int64_t high,
                             engine::Access access) override {
    for (int64_t byte = low; byte < high; ++byte) mark(asked_, address.offset + byte, access);
    return memory_.resolve(address, low, high, access);
  }
  [[nodiscard]] const std::vector<uint8_t>& asked() const { return asked_; }

  static void mark(std::vector<uint8_t>& bytes, int64_t at, engine::Access access) {
    bytes.at(static_cast<size_t>(at)) |= access == engine::Access::kRead ? 1 : 2;
  }

 private:
  Scratchpad memory_;
  std::vector<uint8_t> asked_;
};

// Marks what an access touches, run by run.
void mark_access(const contract::MemoryAccess& access, std::vector<uint8_t>& bytes) {
  std::array<uint64_t, contract::MemoryAccess::kMaxRank> index{};
  for (;;) {
    int64_t at = access.base.offset + access.first;
    for (size_t d = 0; d < index.size(); ++d) at += static_cast<int64_t>(index[d]) * access.dims[d].stride;
    for (uint64_t i = 0; i < access.run; ++i) Watched::mark(bytes, at + static_cast<int64_t>(i), access.access);
    size_t d = index.size();
    while (d > 0 && ++index[d - 1] == access.dims[d - 1].count) index[--d] = 0;
    if (d == 0) return;
  }
}

// The preset, or `floats`: edge with all formats, whose cycles do not divide its depth.
Capabilities machine(const std::string& name) {
  if (name != "floats") return presets::load_preset(name).caps;
  Capabilities caps = presets::load_preset("edge").caps;
  caps.mxu_fp8_cycles = 1;
  caps.mxu_fp16_cycles = 2;
  caps.mxu_bf16_cycles = 3;
  caps.mxu_fp32_cycles = 5;
  caps.vpu_float = 1;
  return caps;
}

class RandomTiles : public testing::TestWithParam<std::tuple<Unit, const char*>> {
 protected:
  const Unit unit_ = std::get<0>(GetParam());
  const Capabilities caps_ = machine(std::get<1>(GetParam()));
  const std::unique_ptr<engine::Engine> model_ =
      unit_ == Unit::kMxu ? engine::make_mxu_model(caps_) : engine::make_vpu_model(caps_);
};

// Of 3 modes: int8 with any rescale, int16 with a 16-bit one, each of them to unsigned too; and raw.
constexpr size_t kMxuKinds = 3 * (4 + 3 + 2 + 1);
// With a residual: int8 with one of the 32-bit scales.
constexpr size_t kResidualKinds = 3 * 2;
// Element-wise: tame or not, long or not, in place or not. Pooling: 2 modes, 2 types. Reductions: 3 types of max, min
// and argmax, 1 of sum, product, all and any.
constexpr size_t kVpuKinds = 8 + 4 + 3 * 3 + 4;
// With floating point. Of the MXU 3 modes of each of its formats, each with a residual too. Element-wise as above;
// pooling of 5 formats: averages, maxima, and those that ignore NaNs. Reductions: sum and product of 3 formats, max and
// min of 3, argmax of 5, each of these with NaNs and without.
size_t mxu_float_kinds(const Capabilities& caps) {
  size_t formats = 0;
  for (const Element format : {Element::kF16, Element::kBf16, Element::kF32, Element::kF8e4m3, Element::kF8e5m2}) {
    formats += contract::mxu_float_cycles(format, caps) != 0 ? 1 : 0;
  }
  return 3 * formats;
}
constexpr size_t kVpuFloatKinds = 8 + 3 * 5 + 2 * 3 + 2 * (2 * 3 + 5);

TEST_P(RandomTiles, TouchWhatTheContractSays) {
  uint64_t compared = 0;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Tile tile = random_tile(unit_, caps_, seed, kMostCycles);
    Watched memory(tile);
    ASSERT_EQ(model_->run(tile.command, memory, /*timed=*/false).error, ErrorCode::kOk) << tile.text;
    std::vector<uint8_t> said(memory.asked().size());
    std::visit(
        [&](const auto& command) {
          for_each_access(command, [&](const contract::MemoryAccess& access) {
            mark_access(access, said);
            ASSERT_TRUE(access.may_lie_in(contract::Space::kScratchpad));
            ASSERT_FALSE(access.may_lie_in(contract::Space::kDram));
          });
        },
        contract::decode_command(tile.command));
    ASSERT_EQ(memory.asked(), said) << tile.text;
    compared += said.size();
  }
  std::cout << compared << " bytes compared of " << kSeeds << " tiles\n";
}

TEST_P(RandomTiles, AreAcceptedWithinTheirCyclesAndOfEveryKind) {
  std::map<std::string, int> kinds;
  uint64_t cycles = 0, longest = 0;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Tile tile = random_tile(unit_, caps_, seed, kMostCycles);
    ++kinds[tile.kind];
    Scratchpad memory(tile);
    ASSERT_LE(tile.memory[0].bytes.size(), caps_.spm_bytes);
    const engine::TileResult result = model_->run(tile.command, memory, /*timed=*/true);
    ASSERT_EQ(result.error, ErrorCode::kOk) << tile.text;
    ASSERT_LE(result.cycles, kMostCycles) << tile.text;
    ASSERT_NE(tile.text.find("seed " + std::to_string(seed)), std::string::npos);
    cycles += result.cycles;
    longest = std::max(longest, result.cycles);
  }
  const bool floats = caps_.vpu_float != 0;
  const bool adds = caps_.mxu_residual != 0;
  const size_t of_mxu = kMxuKinds + (adds ? kResidualKinds : 0) + mxu_float_kinds(caps_) * (adds ? 2 : 1);
  EXPECT_EQ(kinds.size(), unit_ == Unit::kMxu ? of_mxu : kVpuKinds + (floats ? kVpuFloatKinds : 0));
  // There are twice as many kinds of the VPU with floating point.
  for (const auto& [kind, count] : kinds) EXPECT_GE(count, floats ? 4 : 20) << kind;
  // Long ones are no rarity.
  EXPECT_GE(longest, kMostCycles * 9 / 10);
  EXPECT_GE(cycles / kSeeds, kMostCycles / 20);
  std::printf("%zu kinds, %llu cycles a tile\n", kinds.size(), static_cast<unsigned long long>(cycles / kSeeds));
}

// A command is one image of a batch; its dilation and its padding behind the image follow from its sizes.
template <class Command>
test::Window window_of(const Command& command) {
  test::Window w;
  w.height = command.in_h, w.width = command.in_w, w.out_height = command.out_h, w.out_width = command.out_w;
  w.kernel_h = command.kernel_h, w.kernel_w = command.kernel_w;
  w.stride_y = command.stride_y, w.stride_x = command.stride_x;
  w.pad_top = command.pad_top, w.pad_left = command.pad_left;
  int64_t dilation_y = 1, dilation_x = 1;
  if constexpr (std::is_same_v<Command, contract::MxuCommand>) {
    w.channels = command.in_c, dilation_y = command.dilation_y, dilation_x = command.dilation_x;
  } else {
    w.channels = command.channels;
  }
  w.pad_bottom = (w.out_height - 1) * w.stride_y + (w.kernel_h - 1) * dilation_y + 1 - w.height - w.pad_top;
  w.pad_right = (w.out_width - 1) * w.stride_x + (w.kernel_w - 1) * dilation_x + 1 - w.width - w.pad_left;
  return w;
}

TEST_P(RandomTiles, HaveEveryPairOfWhatWindowsAre) {
  constexpr size_t kPlainFacts = 14;
  const std::vector<std::string_view> names = test::names_of(test::window_facts());
  const auto paired = std::span(names).subspan(1, kPlainFacts - 1);
  static constexpr std::string_view kNever[] = {"batch > 1", "out channels > 1", "dilation y > 1", "dilation x > 1"};
  test::Bins bins(unit_ == Unit::kMxu ? "convolution" : "pooling", names, {{}, paired, kNever});
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Tile tile = random_tile(unit_, caps_, seed, kMostCycles);
    const contract::Opcode opcode = contract::Header::decode(tile.command).opcode;
    if (opcode == contract::Opcode::kVpuPool) {
      bins.add(test::window_facts(), window_of(contract::VpuPoolCommand::decode(tile.command)));
    } else if (opcode == contract::Opcode::kMxu) {
      const auto command = contract::MxuCommand::decode(tile.command);
      if (command.mode != contract::MxuMode::kMatmul) bins.add(test::window_facts(), window_of(command));
    }
  }
  bins.print(std::cout);
  EXPECT_THAT(bins.missed(), testing::ElementsAre());
}

TEST_P(RandomTiles, FollowFromTheirSeed) {
  std::set<std::vector<uint32_t>> commands;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const Tile tile = random_tile(unit_, caps_, seed, kMostCycles),
               again = random_tile(unit_, caps_, seed, kMostCycles);
    EXPECT_EQ(tile.command, again.command);
    EXPECT_EQ(tile.memory, again.memory);
    EXPECT_EQ(tile.kind, again.kind);
    EXPECT_EQ(tile.text, again.text);
    commands.insert(tile.command);
  }
  EXPECT_EQ(commands.size(), 300u);
}

TEST_P(RandomTiles, AreSmallWhenTheyMustBe) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const Tile tile = random_tile(unit_, caps_, seed, 150);
    Scratchpad memory(tile);
    EXPECT_LE(model_->run(tile.command, memory, /*timed=*/true).cycles, 150u) << tile.text;
  }
  try {
    (void)random_tile(unit_, caps_, 1, 5);  // less than the engine's pipeline takes
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kBadInput);
  }
}

INSTANTIATE_TEST_SUITE_P(Machines, RandomTiles,
                         testing::Combine(testing::Values(Unit::kMxu, Unit::kVpu),
                                          testing::Values("nano", "edge", "floats")),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param) == Unit::kMxu ? "Mxu" : "Vpu") +
                                  std::get<1>(info.param);
                         });

TEST(RandomEwise, HasEveryMicroOperationAndType) {
  for (const bool floats : {false, true}) {
    const Capabilities caps = machine(floats ? "floats" : "nano");
    std::map<UopCode, int> uops;
    std::map<Element, int> loaded, stored;
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      const Tile tile = random_tile(Unit::kVpu, caps, seed, kMostCycles);
      if (contract::Header::decode(tile.command).opcode != contract::Opcode::kVpuEwise) continue;
      const VpuEwiseCommand command = VpuEwiseCommand::decode(tile.command);
      for (const Uop& uop : command.uops) {
        ++uops[uop.op];
        if (uop.op == UopCode::kLoad) ++loaded[command.operands.at(uop.a).type];
        if (uop.op == UopCode::kStore) ++stored[command.operands.at(uop.b).type];
      }
    }
    size_t of_machine = 0;
    for (uint32_t code = 0; code < contract::kUopCount; ++code) {
      of_machine += floats || !contract::uop_info(static_cast<UopCode>(code)).floats;
    }
    EXPECT_EQ(uops.size(), of_machine);
    for (const auto& [op, count] : uops) EXPECT_GE(count, 100) << name(op);
    EXPECT_EQ(loaded.size(), floats ? 10u : 5u);
    EXPECT_EQ(stored.size(), floats ? 10u : 5u);
  }
}

TEST(RandomEwise, HasRoomOnTheMachine) {
  Capabilities caps = presets::load_preset("edge").caps;
  for (const uint32_t registers : {8u, 32u}) {
    for (const uint32_t table_bytes : {2048u, 65536u}) {
      caps.vpu_registers = registers;
      caps.vpu_table_bytes = table_bytes;
      uint32_t most_registers = 0;
      for (uint64_t seed = 0; seed < 500; ++seed) {
        const Tile tile = random_tile(Unit::kVpu, caps, seed, kMostCycles);
        engine::Tile checked;
        ASSERT_EQ(engine::parse_tile(tile.command, checked), ErrorCode::kOk);
        EXPECT_TRUE(engine::can_run(caps, checked)) << tile.text;
        if (const auto* ewise = std::get_if<engine::EwiseTile>(&checked)) {
          most_registers = std::max(most_registers, ewise->command.register_count);
        }
      }
      EXPECT_EQ(most_registers, registers);
    }
  }
}

}  // namespace
}  // namespace npu::cosim
