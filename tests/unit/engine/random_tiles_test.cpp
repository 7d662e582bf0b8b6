// SPDX-License-Identifier: Apache-2.0
// The trials that compare model and RTL run what is drawn here.
#include "sim/cosim/random_tiles.h"

#include <gtest/gtest.h>

#include <set>
#include <variant>

#include "hw/contract/queues.h"
#include "tests/unit/engine/support.h"

namespace npu::engine::testing {
namespace {

using contract::Opcode;

// The opcodes of the commands of AnyCommand that are tiles of an engine.
template <class... Commands>
std::set<Opcode> opcodes_of(contract::Queue queue, std::type_identity<std::variant<Commands...>> /*unused*/) {
  std::set<Opcode> opcodes;
  const auto add = [&]<class Command>(std::type_identity<Command>) {
    if constexpr (contract::TileCommand<Command>) {
      if (Command::kQueue == queue) opcodes.insert(Command::kOpcode);
    }
  };
  (add(std::type_identity<Commands>{}), ...);
  return opcodes;
}

TEST(RandomTiles, HaveEveryCommandOfTheirUnit) {
  constexpr uint64_t kTiles = 300, kMostCycles = 100'000;
  contract::Capabilities machine = test_machine();
  machine.spm_bytes = 1 << 20;
  size_t found = 0;
  for (const auto& [unit, queue] :
       {std::pair{cosim::Unit::kMxu, contract::Queue::kMxu}, std::pair{cosim::Unit::kVpu, contract::Queue::kVpu}}) {
    std::set<Opcode> drawn;
    for (uint64_t seed = 0; seed < kTiles; ++seed) {
      drawn.insert(contract::Header::decode(cosim::random_tile(unit, machine, seed, kMostCycles).command).opcode);
    }
    for (const Opcode opcode : opcodes_of(queue, std::type_identity<contract::AnyCommand>{})) {
      EXPECT_EQ(drawn.count(opcode), 1U) << "no random tile is a " << name(opcode);
      ++found;
    }
  }
  EXPECT_GE(found, 4U);
}

}  // namespace
}  // namespace npu::engine::testing
