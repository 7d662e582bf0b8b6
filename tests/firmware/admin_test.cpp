// SPDX-License-Identifier: Apache-2.0
// Requests of ring 0: contexts, variables, power.
#include <functional>

#include "tests/firmware/firmware_fixture.h"

namespace npu::firmware_test {
namespace {

namespace reg = contract::reg;
using contract::ErrorCode;
using contract::PowerState;
using contract::Request;

class AdminTest : public FirmwareTest {
 protected:
  contract::RingCompletion ask(Request type, ErrorCode expected, std::vector<uint32_t> value, uint64_t argument = 0) {
    return admin(driver.submit(0, type, argument, value), expected);
  }
  // A job that ends well; `meanwhile` is checked while the engines work on it.
  void run_job(uint32_t ring, uint32_t slot, const std::function<void()>& meanwhile = {}) {
    const uint32_t id = driver.run(ring, simple_job(), slot);
    ASSERT_TRUE(device.run());
    if (meanwhile) meanwhile();
    device.end_done(10);
    ASSERT_TRUE(device.run());
    completion(ring, id, ErrorCode::kOk);
  }
};

TEST_F(AdminTest, ServesFifteenContexts) {
  boot();
  for (uint32_t ring = 1; ring < 16; ++ring) open(ring, ring);
  for (uint32_t ring = 1; ring < 16; ++ring) run_job(ring, ring);
}

TEST_F(AdminTest, RefusesRingsThatAreNone) {
  boot();
  open(1, 0);
  ask(Request::kContextOpen, ErrorCode::kFaultRequest, {0, 0, 0}, RingDriver::ring_address(5));
  ask(Request::kContextOpen, ErrorCode::kFaultRequest, {16, 0, 0}, RingDriver::ring_address(5));
  ask(Request::kContextOpen, ErrorCode::kFaultRequest, {5, 0, 0}, RingDriver::ring_address(5));  // nothing there
  ask(Request::kContextOpen, ErrorCode::kFaultRequest, {5, 0, 0}, RingDriver::ring_address(1) + 4);
  ask(Request::kContextOpen, ErrorCode::kFaultRequest, {5, 0, 0}, 0x200000);
  ask(Request::kContextOpen, ErrorCode::kFaultRequest, {5, 0, 0}, RingDriver::kShared + RingDriver::kSharedBytes - 64);
  ask(Request::kContextOpen, ErrorCode::kFaultRequest, {1, 0, 0}, RingDriver::ring_address(1));  // open already
  ask(Request::kContextClose, ErrorCode::kFaultRequest, {7});
  ask(Request::kContextClose, ErrorCode::kFaultRequest, {0});
}

TEST_F(AdminTest, ClosingEndsTheJobSilently) {
  boot();
  open(1, 0);
  open(2, 0);
  driver.run(1, simple_job(), 0);
  driver.run(1, simple_job(), 1);
  const uint32_t other = driver.run(2, simple_job(), 2);
  ASSERT_TRUE(device.run());
  ASSERT_EQ(device.starts.size(), 1u);
  ask(Request::kContextClose, ErrorCode::kOk, {1});
  EXPECT_FALSE(driver.peek(1));
  ASSERT_EQ(device.starts.size(), 2u);
  device.end_done(10);
  ASSERT_TRUE(device.run());
  completion(2, other, ErrorCode::kOk);
  open(1, 0);
  run_job(1, 0);
}

TEST_F(AdminTest, WritesAndReadsTheVariableTable) {
  boot();
  const uint32_t table = FakeDevice::kVarEntries * 16;
  ask(Request::kVariableWrite, ErrorCode::kOk, {31, table, FakeDevice::kPsramBytes - table, 0x10007, 0xabcd});
  EXPECT_EQ(device.variables.at(31),
            (std::array<uint32_t, 4>{table, FakeDevice::kPsramBytes - table, 0x10007, 0xabcd}));
  const auto read = ask(Request::kVariableRead, ErrorCode::kOk, {31});
  EXPECT_EQ(read.value, (std::array<uint32_t, 4>{table, FakeDevice::kPsramBytes - table, 0x10007, 0xabcd}));
  ask(Request::kVariableWrite, ErrorCode::kOk, {31, 0, 0, 0, 0});
  EXPECT_EQ(device.variables.at(31), (std::array<uint32_t, 4>{}));
}

TEST_F(AdminTest, RefusesVariablesElsewhere) {
  boot();
  const uint32_t table = FakeDevice::kVarEntries * 16;
  ask(Request::kVariableWrite, ErrorCode::kFaultRequest, {FakeDevice::kVarEntries, table, 4, 0, 0});
  ask(Request::kVariableWrite, ErrorCode::kFaultRequest, {0, table, FakeDevice::kPsramBytes - table + 1, 0, 0});
  ask(Request::kVariableWrite, ErrorCode::kFaultRequest, {0, UINT32_MAX, 2, 0, 0});
  ask(Request::kVariableWrite, ErrorCode::kFaultRequest, {0, table - 4, 8, 0, 0});
  ask(Request::kVariableRead, ErrorCode::kFaultRequest, {FakeDevice::kVarEntries});
  EXPECT_TRUE(device.variables.empty());
}

// Word 2 of an entry.
uint32_t flags(std::initializer_list<contract::VariableFlag> flags) {
  uint32_t sum = 0;
  for (const contract::VariableFlag flag : flags) sum |= static_cast<uint32_t>(flag) << 16;
  return sum;
}

TEST_F(AdminTest, BothPlacesOfAVariableLieInItsMemory) {
  using contract::VariableFlag;
  boot();
  const uint32_t two = flags({VariableFlag::kDoubleBuffered});
  const uint32_t end = FakeDevice::kPsramBytes;
  ask(Request::kVariableWrite, ErrorCode::kOk, {0, end - 128, 64, two, 0});
  ask(Request::kVariableWrite, ErrorCode::kOk, {0, end - 52, 20, two, 0});  // 32 bytes to the second place
  ask(Request::kVariableWrite, ErrorCode::kFaultRequest, {1, end - 48, 32, two, 0});
  ask(Request::kVariableWrite, ErrorCode::kFaultRequest, {1, end - 112, 64, two, 0});
  ask(Request::kVariableWrite, ErrorCode::kFaultRequest, {1, end - 128, UINT32_MAX, two, 0});
  EXPECT_EQ(device.variables.size(), 1u);
}

TEST_F(AdminTest, VariablesInDramLieOutsideOfWhatIsShared) {
  using contract::VariableFlag;
  boot();
  const uint32_t one = flags({VariableFlag::kInDram});
  const uint32_t two = flags({VariableFlag::kInDram, VariableFlag::kDoubleBuffered});
  const uint32_t end = (FakeDevice::kDramMib << 20) / 64;
  const uint32_t shared = RingDriver::kShared / 64, shared_end = shared + RingDriver::kSharedBytes / 64;
  ask(Request::kVariableWrite, ErrorCode::kOk, {0, 0, 100, one, 0});
  ask(Request::kVariableWrite, ErrorCode::kOk, {0, end - 2, 128, one, 0});
  ask(Request::kVariableWrite, ErrorCode::kOk, {0, end - 4, 100, two, 0});  // 128 bytes to the second place
  ask(Request::kVariableWrite, ErrorCode::kOk, {0, shared - 2, 128, one, 0});
  ask(Request::kVariableWrite, ErrorCode::kOk, {0, shared_end, 128, two, 0});
  ask(Request::kVariableWrite, ErrorCode::kFaultRequest, {1, end - 2, 129, one, 0});
  ask(Request::kVariableWrite, ErrorCode::kFaultRequest, {1, end - 3, 65, two, 0});
  ask(Request::kVariableWrite, ErrorCode::kFaultRequest, {1, UINT32_MAX, UINT32_MAX, two, 0});
  ask(Request::kVariableWrite, ErrorCode::kFaultRequest, {1, shared - 2, 129, one, 0});
  ask(Request::kVariableWrite, ErrorCode::kFaultRequest, {1, shared - 2, 65, two, 0});
  ask(Request::kVariableWrite, ErrorCode::kFaultRequest, {1, shared_end - 1, 1, one, 0});
  EXPECT_EQ(device.variables.size(), 1u);
}

TEST_F(AdminTest, SleepsAndWakes) {
  boot();
  open(1, 0);
  ask(Request::kPower, ErrorCode::kOk, {static_cast<uint32_t>(PowerState::kSleep)});
  EXPECT_EQ(device.word(reg::kEnginePower), 0u);
  ask(Request::kPower, ErrorCode::kOk, {static_cast<uint32_t>(PowerState::kActive)});
  EXPECT_EQ(device.word(reg::kEnginePower), 1u);
  ask(Request::kPower, ErrorCode::kFaultRequest, {2});
}

TEST_F(AdminTest, AJobWakesTheDevice) {
  boot();
  open(1, 0);
  ask(Request::kPower, ErrorCode::kOk, {static_cast<uint32_t>(PowerState::kSleep)});
  run_job(1, 0, [&] { EXPECT_EQ(device.word(reg::kEnginePower), 1u); });
}

TEST_F(AdminTest, StaysAwakeWhileJobsAreQueuedOrRunning) {
  boot();
  open(1, 0);
  driver.run(1, simple_job(), 0);
  driver.run(1, simple_job(), 1);
  ask(Request::kPower, ErrorCode::kFaultRequest, {static_cast<uint32_t>(PowerState::kSleep)});
  device.end_done(10);  // the second one is still in the ring when the request is looked at
  ask(Request::kPower, ErrorCode::kFaultRequest, {static_cast<uint32_t>(PowerState::kSleep)});
  EXPECT_EQ(device.starts.size(), 2u);
  ask(Request::kPower, ErrorCode::kFaultRequest, {static_cast<uint32_t>(PowerState::kSleep)});  // now it runs
  device.end_done(10);
  ask(Request::kPower, ErrorCode::kOk, {static_cast<uint32_t>(PowerState::kSleep)});
}

TEST_F(AdminTest, EnginesWithoutPowerFailTheirJobs) {
  boot();
  open(1, 0);
  ask(Request::kPower, ErrorCode::kOk, {static_cast<uint32_t>(PowerState::kSleep)});
  device.power_comes = false;
  const uint32_t first = driver.run(1, simple_job(), 0);
  const uint32_t second = driver.run(1, simple_job(), 1);
  ASSERT_TRUE(device.run());
  completion(1, first, ErrorCode::kFaultPower);
  completion(1, second, ErrorCode::kFaultPower);
  ask(Request::kPower, ErrorCode::kFaultPower, {static_cast<uint32_t>(PowerState::kActive)});
}

TEST_F(AdminTest, PersistentSramHasPowerOfItsOwn) {
  boot();
  open(1, 0);
  for (const uint32_t state : {1u, 2u, 0u, 2u, 1u}) {
    ask(Request::kPersistentPower, ErrorCode::kOk, {state});
    EXPECT_EQ(device.word(reg::kPsramPower), state);
    EXPECT_EQ(device.word(reg::kEnginePower), 1u);
  }
  ask(Request::kPersistentPower, ErrorCode::kFaultRequest, {3});
  EXPECT_EQ(device.word(reg::kPsramPower), 1u);
  // Nothing of it can be asked then, and a job switches it on.
  const uint32_t table = FakeDevice::kVarEntries * 16;
  ask(Request::kVariableWrite, ErrorCode::kFaultPower, {0, table, 4, 0, 0});
  ask(Request::kVariableRead, ErrorCode::kFaultPower, {0});
  ask(Request::kScrub, ErrorCode::kFaultPower, {});
  EXPECT_EQ(device.scrubs, 0u);
  run_job(1, 0, [&] { EXPECT_EQ(device.word(reg::kPsramPower), 0u); });
  ask(Request::kVariableWrite, ErrorCode::kOk, {0, table, 4, 0, 0});
}

TEST_F(AdminTest, OnlyAJobWakesThePersistentSramFromRetention) {
  boot();
  open(1, 0);
  ask(Request::kPersistentPower, ErrorCode::kOk, {1});
  ask(Request::kPower, ErrorCode::kOk, {static_cast<uint32_t>(PowerState::kSleep)});
  ask(Request::kPower, ErrorCode::kOk, {static_cast<uint32_t>(PowerState::kActive)});
  EXPECT_EQ(device.word(reg::kEnginePower), 1u);
  EXPECT_EQ(device.word(reg::kPsramPower), 1u);
  ask(Request::kVariableRead, ErrorCode::kFaultPower, {0});
  run_job(1, 0, [&] { EXPECT_EQ(device.word(reg::kPsramPower), 0u); });
}

TEST_F(AdminTest, PersistentSramStaysAsItIsWhileJobsAreQueuedOrRunning) {
  boot();
  open(1, 0);
  driver.run(1, simple_job(), 0);
  ask(Request::kPersistentPower, ErrorCode::kFaultRequest, {2});
  ask(Request::kScrub, ErrorCode::kFaultRequest, {});
  EXPECT_EQ(device.word(reg::kPsramPower), 0u);
  EXPECT_EQ(device.scrubs, 0u);
  device.end_done(10);
  ask(Request::kScrub, ErrorCode::kOk, {});
  ask(Request::kPersistentPower, ErrorCode::kOk, {2});
}

TEST_F(AdminTest, ABootFindsThePersistentSramAsItIs) {
  device.word(reg::kPsramPower) = 1;
  boot();
  ask(Request::kVariableRead, ErrorCode::kFaultPower, {0});
  ask(Request::kPersistentPower, ErrorCode::kOk, {0});
  EXPECT_EQ(device.word(reg::kPsramPower), 0u);
  ask(Request::kVariableRead, ErrorCode::kOk, {0});
}

TEST_F(AdminTest, ScrubTellsWhatItDid) {
  boot();
  device.word(reg::kEccCorrected) = 100;
  device.word(reg::kEccUncorrectable) = UINT32_MAX;
  for (const uint32_t times : {1u, 2u}) {
    const auto scrubbed = ask(Request::kScrub, ErrorCode::kOk, {});
    EXPECT_EQ(scrubbed.value, (std::array<uint32_t, 4>{3, 2, 0x840, 0}));
    EXPECT_EQ(device.scrubs, times);
  }
}

TEST_F(AdminTest, ADamagedEntryIsToldByWhoeverReadsIt) {
  boot();
  device.damaged_entry = 4;
  ask(Request::kVariableRead, ErrorCode::kFaultEcc, {4});
  ask(Request::kVariableRead, ErrorCode::kOk, {5});
  ask(Request::kVariableWrite, ErrorCode::kOk, {4, 0, 0, 0, 0});
}

TEST_F(AdminTest, AFaultOfTheRunningJobIsNotTheEntrys) {
  boot();
  for (const uint32_t found : {1u, 2u}) {
    device.damage_elsewhere = found;
    ask(Request::kVariableRead, ErrorCode::kOk, {4});
    EXPECT_EQ(device.damage_elsewhere, 0u);
  }
}

// The job that runs meanwhile looks at all entries.
TEST_F(AdminTest, AnEntryIsFreeWhileItIsReplaced) {
  boot();
  const uint32_t table = FakeDevice::kVarEntries * 16;
  ask(Request::kVariableWrite, ErrorCode::kOk, {4, table, 64, 0x10007, 0xabcd});
  ask(Request::kVariableWrite, ErrorCode::kOk, {4, table + 64, 32, 0x20008, 0xef01});
  EXPECT_EQ(device.variables.at(4), (std::array<uint32_t, 4>{table + 64, 32, 0x20008, 0xef01}));
  ask(Request::kVariableWrite, ErrorCode::kOk, {4, 0, 0, 0, 0});
  EXPECT_EQ(device.variables.at(4), (std::array<uint32_t, 4>{}));
  EXPECT_EQ(device.changes_of_valid_entries, 0u);
}

TEST_F(AdminTest, AcknowledgesALoss) {
  boot();
  ask(Request::kAcknowledgeLoss, ErrorCode::kOk, {});
  EXPECT_EQ(device.word(reg::kPsramStatus), uint32_t{reg::kPsramStatusLostMask});
}

TEST_F(AdminTest, LogLevelsChoose) {
  boot(1);
  open(1, 0);
  EXPECT_EQ(driver.log(), "");
  driver.submit(0, Request::kContextOpen, 0x300000, std::array<uint32_t, 3>{4, 0, 0});
  admin(0, ErrorCode::kFaultRequest);
  EXPECT_NE(driver.log().find("error ring 4 not opened"), std::string::npos) << driver.log();
}

TEST_F(AdminTest, LogWrapsAround) {
  boot(3);
  open(1, 0);
  while (driver.header(0).log_producer < 3 * RingDriver::kLogBytes) ASSERT_NO_FATAL_FAILURE(run_job(1, 0));
  const std::string log = driver.log();
  EXPECT_EQ(log.size(), RingDriver::kLogBytes);
  EXPECT_EQ(log.back(), '\n');
  EXPECT_NE(log.find("accepted\n"), std::string::npos);
}

}  // namespace
}  // namespace npu::firmware_test
