// SPDX-License-Identifier: Apache-2.0
// The schedule of the MXU's ports: the formula's cycles when memory grants at once, and what holds for any grants. That
// it is the RTL's schedule is for tests/block to show.
#include "hw/timing/mxu_ports.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>

#include "hw/contract/elements.h"
#include "hw/timing/mxu_cycles.h"

namespace npu::timing {
namespace {

using contract::Capabilities;
using contract::Element;
using contract::MxuCommand;
using contract::MxuMode;

// `floats` are the cycles of FP8, FP16, BF16 and FP32.
Capabilities machine(uint32_t cols, uint32_t depth, uint32_t taps, uint32_t acc_bytes, uint32_t port_bytes,
                     const std::array<uint32_t, 4>& floats) {
  Capabilities caps;
  caps.mxu_cols = cols;
  caps.mxu_depth = depth;
  caps.mxu_dw_taps = taps;
  caps.mxu_acc_bytes = acc_bytes;
  caps.mxu_weight_port_bytes = port_bytes;
  caps.mxu_fp8_cycles = floats[0];
  caps.mxu_fp16_cycles = floats[1];
  caps.mxu_bf16_cycles = floats[2];
  caps.mxu_fp32_cycles = floats[3];
  return caps;
}
const Capabilities kNano = machine(8, 8, 2, 4096, 16, {1, 2, 3, 8});
const Capabilities kOdd = machine(16, 16, 5, 4096, 32, {3, 7, 13, 64});
const Capabilities kEdge = machine(32, 32, 9, 65536, 64, {1, 2, 2, 5});
const Capabilities kServer = machine(128, 128, 16, 1 << 20, 256, {1, 2, 2, 8});

class Random {
 public:
  explicit Random(uint64_t seed) : random_(seed) {}
  uint64_t bits() { return random_(); }
  uint32_t between(uint32_t low, uint32_t high) { return low + static_cast<uint32_t>(random_() % (high - low + 1)); }
  bool chance(uint32_t percent) { return random_() % 100 < percent; }

 private:
  std::mt19937_64 random_;
};

MxuCommand random_command(Random& random, const Capabilities& caps) {
  MxuCommand command;
  command.mode = static_cast<MxuMode>(random.between(0, 2));
  command.src_type = random.chance(30) ? Element::kI16 : Element::kI8;
  command.weight_type = command.mode == MxuMode::kMatmul ? command.src_type : Element::kI8;
  if (random.chance(30)) {
    const std::array formats = {Element::kF16, Element::kBf16, Element::kF32, Element::kF8e4m3, Element::kF8e5m2};
    command.src_type = command.weight_type = formats.at(random.between(0, formats.size() - 1));
  }
  command.out_h = random.between(1, 6);
  command.out_w = random.between(1, random.chance(30) ? 60 : 6);
  command.out_c = random.between(1, 3 * caps.mxu_cols + 1);
  command.in_c = random.between(1, 3 * caps.mxu_depth + 1);
  command.kernel_h = random.between(1, 3);
  command.kernel_w = random.between(1, 3);
  if (contract::is_float(command.src_type)) {
    if (random.chance(30)) command.residual = contract::Residual::kFloating;
  } else if (command.src_type == Element::kI8 && random.chance(30)) {
    command.residual = contract::Residual::kScaleValue;
  }
  if (command.mode != MxuMode::kMatmul && random.chance(15)) {
    command.side_by_side_log2 = random.between(1, 2);
    command.out_w = random.between(1, 60) << command.side_by_side_log2;
    command.out_c = caps.mxu_cols >> command.side_by_side_log2;
  }
  return command;
}

// At most `most` cycles by the formula.
MxuCommand random_command(Random& random, const Capabilities& caps, uint64_t most) {
  for (;;) {
    const MxuCommand command = random_command(random, caps);
    if (mxu_cycles(command, caps).total() <= most) return command;
  }
}

// The ports that memory serves in a cycle: each by its own chance, now and then not at all for a while.
class Grants {
 public:
  Grants(Random& random, uint32_t least, uint32_t most) : random_(random.bits()) {
    for (uint32_t& percent : percent_) percent = random.between(least, most);
  }
  Ports next() {
    if (random_.chance(2)) shut_ = random_.between(0, kAllPorts);
    Ports ready = 0;
    for (uint32_t port = 0; port < kMostPorts; ++port) ready |= (random_.chance(percent_[port]) ? 1u : 0u) << port;
    return ready & ~shut_;
  }

 private:
  Random random_;
  std::array<uint32_t, kMostPorts> percent_{};
  Ports shut_ = 0;
};

// Cycles until it is done; 0 when it is not within `limit`. Checks what ports.h promises on the way.
template <class Ready>
uint64_t run(const MxuCommand& command, const Capabilities& caps, Ready ready, uint64_t limit) {
  const std::unique_ptr<PortSchedule> schedule = mxu_ports(command, caps);
  Ports waiting = 0;
  for (uint64_t cycle = 0; cycle < limit; ++cycle) {
    if (schedule->done()) return cycle;
    const Ports asking = schedule->asking();
    EXPECT_EQ(waiting & ~asking, 0u) << "a request was withdrawn in cycle " << cycle;
    const Ports granted = asking & ready();
    waiting = asking & ~granted;
    schedule->step(granted);
  }
  return schedule->done() ? limit : 0;
}

TEST(MxuPorts, OfATileByHand) {
  // One pixel of one step on nano, 8 channels of int8: a load of 8 * 8 / 16 = 4 beats, a header of 32 / 16 = 2, entries
  // of 8 * 16 / 16 = 8, one result.
  MxuCommand command;
  command.mode = MxuMode::kConv;
  command.src_type = command.weight_type = Element::kI8;
  command.out_h = command.out_w = command.kernel_h = command.kernel_w = 1;
  command.in_c = command.out_c = 8;
  const std::unique_ptr<PortSchedule> schedule = mxu_ports(command, kNano);
  std::string asked;
  while (!schedule->done()) {
    const Ports ports = schedule->asking();
    asked += "0123456789abcdef"[ports];
    schedule->step(ports);
  }
  // The zero points; weights, with the header's other half in the first; the pixel; its way of 3 + 3 cycles but the
  // first; entries as it arrives; the drained pixel's way through the output stage.
  EXPECT_EQ(asked,
            "4"
            "6222"
            "1"
            "0000"
            "44444444"
            "00000"
            "8");
  EXPECT_EQ(asked.size(), mxu_cycles(command, kNano).total());
}

// The residual comes two pixels ahead: with weights and the header's other half, and the third one behind the addition
// of the first. Its two RESCALEs lie behind the value's: 15 cycles from the last entries to the first result.
TEST(MxuPorts, OfATileWithAResidual) {
  MxuCommand command;
  command.mode = MxuMode::kConv;
  command.src_type = command.weight_type = Element::kI8;
  command.out_h = command.kernel_h = command.kernel_w = 1;
  command.out_w = 3;
  command.in_c = command.out_c = 8;
  command.residual = contract::Residual::kScaleOperand;
  const std::unique_ptr<PortSchedule> schedule = mxu_ports(command, kNano);
  std::string asked;
  while (!schedule->done()) {
    const Ports ports = schedule->asking();
    asked += "0123456789abcdefghijklmnopqrstuv"[ports];
    schedule->step(ports);
  }
  EXPECT_EQ(asked,
            "4"
            "mi22"
            "111"
            "00"
            "44444444"
            "00000"
            "0"
            "g00000000"
            "888");
  EXPECT_EQ(asked.size(), mxu_cycles(command, kNano).total());
}

TEST(MxuPorts, AnEmptyTileAsksForNothing) {
  MxuCommand command;
  command.out_h = 0;
  command.out_w = command.out_c = command.in_c = command.kernel_h = command.kernel_w = 1;
  const std::unique_ptr<PortSchedule> schedule = mxu_ports(command, kNano);
  EXPECT_TRUE(schedule->done());
  EXPECT_EQ(schedule->asking(), 0u);
}

class MxuPortsOf : public testing::TestWithParam<Capabilities> {};

TEST_P(MxuPortsOf, WithAllGrantsTakeTheCyclesOfTheFormula) {
  Random random(11);
  for (int i = 0; i < 3'000; ++i) {
    const MxuCommand command = random_command(random, GetParam(), 20'000);
    const uint64_t wanted = mxu_cycles(command, GetParam()).total();
    ASSERT_EQ(run(
                  command, GetParam(), [] { return kAllPorts; }, 2 * wanted),
              wanted)
        << "tile " << i << " of seed 11";
  }
}

// What the memory moves does not depend on when it does.
TEST_P(MxuPortsOf, AskAsOftenWhateverTheGrants) {
  Random random(12);
  for (int i = 0; i < 300; ++i) {
    const MxuCommand command = random_command(random, GetParam(), 2'000);
    const MxuLoops loops = mxu_loops(command, GetParam());
    Grants grants(random, 5, 95);
    std::array<uint64_t, kMostPorts> beats{};
    const std::unique_ptr<PortSchedule> schedule = mxu_ports(command, GetParam());
    for (uint64_t cycle = 0; !schedule->done(); ++cycle) {
      ASSERT_LT(cycle, 100'000u) << "tile " << i << " of seed 12 does not end";
      const Ports granted = schedule->asking() & grants.next();
      for (uint32_t port = 0; port < kMostPorts; ++port) beats[port] += granted >> port & 1;
      schedule->step(granted);
    }
    uint64_t weights = 0, entries = 0;
    for (uint64_t group = 0; group < loops.groups; ++group) {
      weights += loops.blocks * loops.steps * loops.load(group);
      entries += loops.blocks * loops.parameter_beats(group);
    }
    const uint64_t header = ceil_div(contract::ParameterHeader::kBytes, loops.port_bytes);
    const uint64_t results = loops.pixels * loops.groups;
    ASSERT_EQ(beats, (std::array<uint64_t, kMostPorts>{results * loops.steps, weights, header + entries, results,
                                                       loops.residual ? results : 0}))
        << "tile " << i << " of seed 12";
  }
}

// Than with all grants, that is. Of two that are held back the one with fewer grants can end first: a group that waits
// for its parameters makes the whole array stand, and does so later when it arrives later.
TEST_P(MxuPortsOf, HeldBackAreNeverFaster) {
  Random random(13);
  for (int i = 0; i < 2'000; ++i) {
    const MxuCommand command = random_command(random, GetParam(), 3'000);
    const uint64_t formula = mxu_cycles(command, GetParam()).total();
    Grants grants(random, 20, 100);
    const Ports open = random.chance(50) ? 0 : random.between(0, kAllPorts);
    const auto ready = [&] { return grants.next() | open; };
    ASSERT_GE(run(command, GetParam(), ready, 100'000), formula) << "tile " << i << " of seed 13";
  }
}

TEST_P(MxuPortsOf, EndUnderLessThanOneGrantInAHundredCycles) {
  Random random(14);
  for (int i = 0; i < 200; ++i) {
    const MxuCommand command = random_command(random, GetParam(), 1'000);
    const uint64_t formula = mxu_cycles(command, GetParam()).total();
    const auto rare = [&] { return random.chance(3) ? 1u << random.between(0, kMostPorts - 1) : 0u; };
    ASSERT_GE(run(command, GetParam(), rare, 600 * formula + 10'000), formula) << "tile " << i << " of seed 14";
  }
}

INSTANTIATE_TEST_SUITE_P(Machines, MxuPortsOf, testing::Values(kNano, kOdd, kEdge, kServer),
                         [](const auto& machine) { return "Cols" + std::to_string(machine.param.mxu_cols); });

// Steps that are granted all at once are the same taken together, as many as steady() says; and none of them shows.
TEST(MxuPorts, SkipsStepsThatChangeNothing) {
  Random random(20261125);
  uint64_t skipped = 0, stepped = 0;
  for (int i = 0; i < 600; ++i) {
    const Capabilities& caps = *std::array{&kNano, &kOdd, &kEdge, &kServer}[i % 4];
    const MxuCommand command = random_command(random, caps, 20000);
    const auto one = mxu_ports(command, caps), other = mxu_ports(command, caps);
    const bool counts = mxu_loops(command, caps).rate == 1;  // else few cycles are like the one before
    Grants grants(random, 20, 100);
    while (!one->done()) {
      ASSERT_EQ(one->asking(), other->asking()) << "tile " << i;
      uint64_t cycles = other->steady();
      if (cycles > 0 && random.chance(50)) cycles = random.between(0, static_cast<uint32_t>(cycles));
      const Ports asking = one->asking();
      for (uint64_t k = 0; k < cycles; ++k) {
        one->step(asking);
        ASSERT_EQ(one->asking(), asking) << "tile " << i << ", step " << k + 1 << " of " << cycles;
        ASSERT_FALSE(one->done());
      }
      if (cycles > 0) other->skip(cycles);
      if (counts) skipped += cycles;
      const Ports granted = one->asking() & (random.chance(70) ? kAllPorts : grants.next());
      one->step(granted);
      other->step(granted);
      if (counts) ++stepped;
    }
    ASSERT_TRUE(other->done());
  }
  EXPECT_GT(skipped, stepped);
}

}  // namespace
}  // namespace npu::timing
