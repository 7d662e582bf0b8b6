// SPDX-License-Identifier: Apache-2.0
// When the VPU's ports ask: by hand, and properties that hold for every tile and every trace of grants.
#include "hw/timing/vpu_ports.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <random>
#include <vector>

#include "hw/contract/gen/micro_operations.h"
#include "hw/timing/vpu_cycles.h"
#include "sim/cosim/grants.h"

namespace npu::timing {
namespace {

using contract::Capabilities;
using contract::Element;
using contract::Operand;
using contract::PoolMode;
using contract::ReduceOp;
using contract::Uop;
using contract::UopCode;
using contract::VpuEwiseCommand;
using contract::VpuPoolCommand;
using contract::VpuReduceCommand;
using cosim::Grants;

struct Outcome {
  uint64_t cycles = 0;
  std::array<uint64_t, 3> beats{};  // by port
};

constexpr uint64_t kLimit = 50'000'000;

// To the end, or kLimit cycles. A port that asks must go on until it is granted.
Outcome run(PortSchedule& schedule, Grants grants) {
  Outcome outcome;
  Ports held_back = 0;
  while (!schedule.done() && outcome.cycles < kLimit) {
    const Ports asking = schedule.asking(), granted = asking & grants.next();
    if ((held_back & ~asking) != 0) ADD_FAILURE() << "a request was taken back behind cycle " << outcome.cycles;
    held_back = asking & ~granted;
    for (size_t port = 0; port < outcome.beats.size(); ++port) outcome.beats[port] += granted >> port & 1;
    schedule.step(granted);
    ++outcome.cycles;
  }
  EXPECT_TRUE(schedule.done());
  EXPECT_EQ(schedule.asking(), 0u);
  return outcome;
}

// What is asked for, cycle by cycle, for a trace of grants that goes on for ever with its last.
std::vector<Ports> requests(PortSchedule& schedule, const std::vector<Ports>& grants) {
  std::vector<Ports> asked;
  while (!schedule.done() && asked.size() < 100) {
    const Ports ready = grants[std::min(asked.size(), grants.size() - 1)];
    asked.push_back(schedule.asking());
    schedule.step(asked.back() & ready);
  }
  return asked;
}

Capabilities machine(uint32_t lanes) {
  Capabilities caps;
  caps.vpu_lanes = lanes;
  return caps;
}

// Load, load, add, store.
VpuEwiseCommand add_of(uint32_t elements) {
  VpuEwiseCommand command;
  command.dims = {1, 1, 1, elements};
  command.operands.resize(3);
  command.uops = {{UopCode::kLoad, 0, 0, 0, 0, 0},
                  {UopCode::kLoad, 1, 1, 0, 0, 0},
                  {UopCode::kAdd, 0, 0, 1, 0, 0},
                  {UopCode::kStore, 0, 0, 2, 0, 0}};
  return command;
}

constexpr Ports P = kVpuParameters, R = kVpuRead, W = kVpuWrite, A = kAllPorts;

TEST(VpuPorts, AddOfOneVector) {
  // Setup, fetch, address; two loads; the store is three passes behind the first load, and six stages behind its port.
  EXPECT_EQ(requests(*vpu_ports(add_of(8), machine(8)), {A}),
            (std::vector<Ports>{0, 0, 0, R, R, 0, 0, 0, 0, 0, 0, 0, W, 0}));
}

TEST(VpuPorts, WhatSharesAPassAsksInIt) {
  Capabilities caps = machine(8);
  caps.vpu_shared_pass = 1;
  // The addition's pass stores.
  EXPECT_EQ(requests(*vpu_ports(add_of(8), caps), {A}), (std::vector<Ports>{0, 0, 0, R, R, 0, 0, 0, 0, 0, 0, W, 0}));
  // A look-up of four passes: the first one loads, the last one stores.
  VpuEwiseCommand command = add_of(8);
  command.uops = {{UopCode::kLoad, 0, 0, 0, 0, 0}, {UopCode::kTable8, 0, 0, 1, 0, 0}, {UopCode::kStore, 0, 0, 2, 0, 0}};
  EXPECT_EQ(requests(*vpu_ports(command, caps), {A}), (std::vector<Ports>{0, 0, 0, R, 0, 0, 0, 0, 0, 0, 0, 0, W, 0}));
}

TEST(VpuPorts, ParametersComeFirst) {
  VpuEwiseCommand command = add_of(8);
  command.operands[1].bytes = 33;  // two rows of 32
  EXPECT_EQ(requests(*vpu_ports(command, machine(8)), {A}),
            (std::vector<Ports>{0, P, P, 0, 0, R, R, 0, 0, 0, 0, 0, 0, 0, W, 0}));
  EXPECT_EQ(requests(*vpu_ports(command, machine(8)), {A, R, A, R, A}),
            (std::vector<Ports>{0, P, P, P, P, 0, 0, R, R, 0, 0, 0, 0, 0, 0, 0, W, 0}));
}

TEST(VpuPorts, WhatIsGrantedBeforeTheRestIsNotAskedForAgain) {
  // The last load of three vectors meets the first store.
  const auto asked = [](std::vector<Ports> from_the_13th_cycle_on) {
    std::vector<Ports> grants(12, A);
    grants.insert(grants.end(), from_the_13th_cycle_on.begin(), from_the_13th_cycle_on.end());
    return requests(*vpu_ports(add_of(24), machine(8)), grants);
  };
  const auto expected = [](const std::vector<Ports>& meeting) {
    std::vector<Ports> ports = {0, 0, 0, R, R, 0, 0, R, R, 0, 0, R};
    ports.insert(ports.end(), meeting.begin(), meeting.end());
    for (const Ports port : {0u, 0u, 0u, W, 0u, 0u, 0u, W, 0u}) ports.push_back(port);
    return ports;
  };
  EXPECT_EQ(asked({A}), expected({R | W}));
  EXPECT_EQ(asked({R, R, R, A}), expected({R | W, W, W, W}));
  EXPECT_EQ(asked({W, W, W, A}), expected({R | W, R, R, R}));
  EXPECT_EQ(asked({0, W, 0, A}), expected({R | W, R | W, R, R}));
}

TEST(VpuPorts, NothingAsksForNothing) {
  VpuEwiseCommand ewise = add_of(0);
  ewise.operands[1].bytes = 33;
  VpuReduceCommand reduce;
  reduce.outer = reduce.inner = 1;
  std::unique_ptr<PortSchedule> schedules[] = {vpu_ports(ewise, machine(8)), vpu_ports(VpuPoolCommand{}, machine(8)),
                                               vpu_ports(reduce, machine(8)),
                                               vpu_ports(VpuReduceCommand{}, machine(8))};
  for (const auto& schedule : schedules) {
    EXPECT_TRUE(schedule->done());
    EXPECT_EQ(schedule->asking(), 0u);
  }
}

class VpuPortsRandom : public testing::Test {
 protected:
  uint32_t between(uint32_t low, uint32_t high) { return std::uniform_int_distribution<uint32_t>(low, high)(random_); }
  Capabilities random_machine() {
    Capabilities caps = machine(4u << between(0, 6));
    caps.vpu_rescale = between(0, 1);
    caps.vpu_tree = between(0, 1);
    caps.vpu_table_pairs = between(0, 1);
    caps.vpu_shared_pass = between(0, 1);
    return caps;
  }

  VpuEwiseCommand random_ewise() {
    VpuEwiseCommand command;
    for (uint32_t& dim : command.dims) dim = between(1, 6);
    command.operands.resize(between(1, 8));
    for (Operand& operand : command.operands) {
      operand.type = static_cast<Element>(between(0, static_cast<uint32_t>(Element::kF8e5m2)));
      if (between(0, 3) == 0) operand.bytes = between(1, 1100);
    }
    const auto operand = [&] { return between(0, static_cast<uint32_t>(command.operands.size()) - 1); };
    command.uops.resize(between(1, 32));
    for (Uop& uop : command.uops) {
      const auto others = static_cast<UopCode>(between(0, contract::kUopCount - 1));
      uop.op = std::array{UopCode::kLoad, UopCode::kStore, others}.at(between(0, 2));
      uop.a = operand();
      uop.b = operand();
      uop.imm0 = static_cast<int32_t>(between(0, 1));
    }
    return command;
  }

  VpuPoolCommand random_pool() {
    VpuPoolCommand command;
    command.mode = between(0, 1) == 0 ? PoolMode::kMax : PoolMode::kAvg;
    command.out_h = between(1, 5);
    command.out_w = between(1, 5);
    command.channels = between(1, 40);
    command.kernel_h = between(1, 9);
    command.kernel_w = between(1, 9);
    return command;
  }

  VpuReduceCommand random_reduce() {
    VpuReduceCommand command;
    command.op = static_cast<ReduceOp>(between(0, static_cast<uint32_t>(ReduceOp::kArgmax)));
    command.outer = between(1, between(0, 1) == 0 ? 6 : 150);
    command.axis = between(1, between(0, 1) == 0 ? 5 : 600);
    command.inner = between(0, 1) == 0 ? 1 : between(2, 70);
    return command;
  }

  // Requests of a tile on each port, counted without a schedule.
  using Beats = std::array<uint64_t, 3>;
  static Beats beats(const VpuEwiseCommand& command, const Capabilities& caps) {
    Beats beats{};
    for (const Operand& operand : command.operands)
      beats[0] += (operand.bytes + 4 * caps.vpu_lanes - 1) / (4 * caps.vpu_lanes);
    uint64_t elements = 1;
    for (const uint32_t dim : command.dims) elements *= dim;
    for (uint64_t first = 0; first < elements; first += caps.vpu_lanes) {
      for (const Uop& uop : command.uops) {
        if (uop.op == UopCode::kLoad) beats[1] += command.operands[uop.a].type == Element::kI48 ? 2 : 1;
        if (uop.op == UopCode::kStore) beats[2] += command.operands[uop.b].type == Element::kI48 ? 2 : 1;
      }
    }
    return beats;
  }
  static Beats beats(const VpuPoolCommand& command, const Capabilities& caps) {
    Beats beats{};
    if (command.mode == PoolMode::kAvg) beats[0] = caps.vpu_lanes == 4 ? 2 : 1;
    const uint64_t elements = uint64_t{command.out_h} * command.out_w * command.channels;
    for (uint64_t first = 0; first < elements; first += caps.vpu_lanes) {
      beats[1] += uint64_t{command.kernel_h} * command.kernel_w;
      ++beats[2];
    }
    return beats;
  }
  static Beats beats(const VpuReduceCommand& command, const Capabilities& caps) {
    Beats beats{};
    if (command.inner > 1) {
      for (uint64_t first = 0; first < uint64_t{command.outer} * command.inner; first += caps.vpu_lanes) {
        beats[1] += command.axis;
        ++beats[2];
      }
    } else {
      for (uint64_t first = 0; first < command.axis; first += caps.vpu_lanes) beats[1] += command.outer;
      const bool at_once = caps.vpu_tree != 0 && command.op != ReduceOp::kProduct && command.op != ReduceOp::kArgmax;
      for (uint32_t first = 0; first < command.outer; first += at_once ? caps.vpu_lanes : 1) ++beats[2];
    }
    return beats;
  }

  // With all grants the formula's cycles; held back never fewer, and the same requests.
  template <class Command>
  void check(const Command& command, const Capabilities& caps, uint64_t formula) {
    const Outcome ideal = run(*vpu_ports(command, caps), {});
    ASSERT_EQ(ideal.cycles, formula);
    ASSERT_EQ(ideal.beats, beats(command, caps));
    std::array<uint8_t, kMostPorts> percent{};
    for (uint8_t& port : percent) port = static_cast<uint8_t>(between(5, 100));
    const Outcome held_back = run(*vpu_ports(command, caps), Grants(random_(), percent));
    ASSERT_GE(held_back.cycles, ideal.cycles);
    ASSERT_EQ(held_back.beats, ideal.beats);
    if (formula > 500) return;
    const Outcome starved = run(*vpu_ports(command, caps), Grants(random_(), {1, 1, 1, 1}));
    ASSERT_GE(starved.cycles, ideal.cycles);
    ASSERT_EQ(starved.beats, ideal.beats);
    ++starved_;
  }

  std::mt19937_64 random_{20'261};
  uint64_t starved_ = 0;  // tiles that ran with a grant in a hundred cycles
};

TEST_F(VpuPortsRandom, Ewise) {
  for (int i = 0; i < 3'000 && !HasFailure(); ++i) {
    const Capabilities caps = random_machine();
    const VpuEwiseCommand command = random_ewise();
    check(command, caps, vpu_cycles(command, caps).total());
  }
  EXPECT_GE(starved_, 500u);
}

TEST_F(VpuPortsRandom, Pool) {
  for (int i = 0; i < 3'000 && !HasFailure(); ++i) {
    const Capabilities caps = random_machine();
    const VpuPoolCommand command = random_pool();
    check(command, caps, vpu_cycles(command, caps).total());
  }
  EXPECT_GE(starved_, 500u);
}

TEST_F(VpuPortsRandom, Reduce) {
  for (int i = 0; i < 3'000 && !HasFailure(); ++i) {
    const Capabilities caps = random_machine();
    const VpuReduceCommand command = random_reduce();
    check(command, caps, vpu_cycles(command, caps).total());
  }
  EXPECT_GE(starved_, 500u);
}

}  // namespace
}  // namespace npu::timing
