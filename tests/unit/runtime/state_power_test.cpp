// SPDX-License-Identifier: Apache-2.0
// Power of the persistent SRAM, what it loses, and who is told.
#include <thread>

#include "tests/unit/runtime/fixture.h"

namespace npu::runtime {
namespace {

using contract::ErrorCode;
using contract::PsramPower;
namespace reg = contract::reg;

// Both ways to a device know the same states.
template <typename Way>
class StatePower : public testing::Test {
 protected:
  Way way_;
};
using Ways = testing::Types<Opened, Booted>;
TYPED_TEST_SUITE(StatePower, Ways);

TYPED_TEST(StatePower, RetentionKeepsValuesAndRefusesAccess) {
  Device& device = this->way_.device;
  MockHal& mock = this->way_.mock;
  Context context = device.create_context();
  LoadedProgram program = context.load(with_variable());
  const Snapshot saved = context.snapshot();
  device.set_persistent_power(PsramPower::kRetention);
  EXPECT_EQ(device.persistent_power(), PsramPower::kRetention);
  EXPECT_EQ(mock.get_register(reg::kPsramPower), 1u);
  const auto refused = [](auto call) {
    const auto [code, text] = error_of(call);
    EXPECT_EQ(code, ErrorCode::kFaultPower) << text;
    EXPECT_CONTAINS(text, "in retention; switch it on with set_persistent_power(), or run a job");
  };
  refused([&] { static_cast<void>(context.variables()); });
  refused([&] { static_cast<void>(context.read_variable("v")); });
  refused([&] { context.write_variable("v", int8_value({1, 2, 3, 4})); });
  refused([&] { static_cast<void>(context.snapshot()); });
  refused([&] { context.restore(saved); });
  refused([&] { context.clear(); });
  refused([&] { context.clear("v"); });
  refused([&] { static_cast<void>(device.scrub()); });
  refused([&] { static_cast<void>(context.load(with_variable("w"))); });
  const LoadedProgram again = context.load(with_variable());  // allocates nothing

  Job job = started(program);
  job.run();  // wakes it
  EXPECT_EQ(device.persistent_power(), PsramPower::kOn);
  EXPECT_EQ(mock.get_register(reg::kPsramPower), 0u);
  EXPECT_TRUE(diff(context.snapshot(), saved).empty());
  EXPECT_FALSE(context.state_lost());
}

TYPED_TEST(StatePower, OffLosesTheVariablesOfEveryContextUntilAcknowledged) {
  Device& device = this->way_.device;
  Context a = device.create_context(), b = device.create_context(), stateless = device.create_context();
  LoadedProgram pa = a.load(make_program({int8_variable("x", 4, {1, 2, 3, 4}), int8_variable("w", 4)}));
  LoadedProgram pb = b.load(with_variable("y"));
  LoadedProgram pc = stateless.load(make_program());
  a.write_variable("x", int8_value({9, 9, 9, 9}));
  const Snapshot saved = a.snapshot();
  Job ja = started(pa), jb = started(pb), jc = started(pc);
  device.set_persistent_power(PsramPower::kOff);
  EXPECT_TRUE(a.state_lost() && b.state_lost());
  EXPECT_FALSE(stateless.state_lost());
  EXPECT_EQ(device.memory_use().variables, 0u);
  EXPECT_EQ(device.memory_use().persistent_used, 0u);

  const auto lost = [](auto call) {
    const auto [code, text] = error_of(call);
    EXPECT_EQ(code, ErrorCode::kPowerLost) << text;
    EXPECT_CONTAINS(text, "'w', 'x'");
    EXPECT_CONTAINS(text, "acknowledge_loss()");
  };
  for (const PsramPower state : {PsramPower::kOff, PsramPower::kOn}) {
    device.set_persistent_power(state);
    lost([&] { ja.run(); });
    lost([&] { static_cast<void>(a.variables()); });
    lost([&] { static_cast<void>(a.read_variable("x")); });
    lost([&] { a.write_variable("x", int8_value({1, 2, 3, 4})); });
    lost([&] { static_cast<void>(a.snapshot()); });
    lost([&] { a.restore(saved); });
    lost([&] { a.clear(); });
    lost([&] { a.clear("x"); });
    lost([&] { static_cast<void>(a.load(with_variable("z"))); });
  }
  jc.run();
  const LoadedProgram more = a.load(make_program());  // needs no state
  a.acknowledge_loss();
  a.acknowledge_loss();
  EXPECT_FALSE(a.state_lost());
  EXPECT_TRUE(b.state_lost());
  EXPECT_TRUE(a.variables().empty());
  ja.run();
  EXPECT_EQ(this->way_.mock.get_register(reg::kPsramStatus), 0u);             // the device was told, too
  EXPECT_EQ(a.read_variable("x").bytes, (std::vector<uint8_t>{1, 2, 3, 4}));  // the initial value
  EXPECT_FALSE(a.variables()[1].is_written);
  a.restore(saved);
  EXPECT_EQ(a.read_variable("x").bytes, (std::vector<uint8_t>{9, 9, 9, 9}));
  EXPECT_EQ(error_of([&] { jb.run(); }).first, ErrorCode::kPowerLost);
}

TYPED_TEST(StatePower, OffWithoutAcknowledgementsIsForgottenByAColdReset) {
  Device& device = this->way_.device;
  Context context = device.create_context();
  LoadedProgram program = context.load(with_variable());
  device.set_persistent_power(PsramPower::kOff);
  device.cold_reset();
  EXPECT_EQ(device.persistent_power(), PsramPower::kOn);
  EXPECT_FALSE(context.state_lost());
  Job job = started(program);
  job.run();
}

TYPED_TEST(StatePower, IsRefusedWhileJobsAreInFlight) {
  Device& device = this->way_.device;
  Context context = device.create_context();
  LoadedProgram program = context.load(with_variable());
  this->way_.mock.on_start = [](MockHal&) {};
  if constexpr (std::is_same_v<TypeParam, Booted>) {
    this->way_.firmware.on_run = [](const MockFirmware::Run&) {};
  }
  Job job = started(program);
  job.start();
  EXPECT_EQ(error_of([&] { device.set_persistent_power(PsramPower::kRetention); }).first, ErrorCode::kWrongOrder);
  EXPECT_EQ(error_of([&] { static_cast<void>(device.scrub()); }).first, ErrorCode::kWrongOrder);
  device.soft_reset();
}

TYPED_TEST(StatePower, AContextThatGoesInRetentionLeavesNoEntries) {
  Device& device = this->way_.device;
  auto gone = std::make_unique<Context>(device.create_context());
  Context stays = device.create_context();
  auto program = std::make_unique<LoadedProgram>(gone->load(with_variable()));
  LoadedProgram other = stays.load(with_variable());
  device.set_persistent_power(PsramPower::kRetention);
  program.reset();
  gone.reset();
  EXPECT_EQ(device.memory_use().variables, 1u);
  EXPECT_NE(this->way_.mock.persistent()[4], 0);  // the device could not be told
  Job job = started(other);
  job.run();
  EXPECT_EQ(this->way_.mock.persistent()[4], 0);
}

TEST(StateLost, ListenersAreToldOnceALossByTheThreadThatFindsIt) {
  Booted booted;
  Context a = booted.device.create_context(), b = booted.device.create_context(),
          empty = booted.device.create_context();
  LoadedProgram pa = a.load(with_variable("x")), pb = b.load(with_variable("y"));
  std::vector<std::string> told;
  const std::thread::id self = std::this_thread::get_id();
  const auto listener = [&](const std::string& who, Context& context) {
    return [&, who](const StateLoss& loss) {
      EXPECT_EQ(std::this_thread::get_id(), self);
      EXPECT_TRUE(context.state_lost());  // calls are allowed: the lock is free
      told.push_back(who + ":" + loss.identities.at(0));
    };
  };
  a.on_state_lost(listener("a", a));
  const uint64_t removed = a.on_state_lost(listener("removed", a));
  b.on_state_lost(listener("b", b));
  empty.on_state_lost(listener("empty", empty));
  b.remove_listener(removed);  // another context's: nothing happens
  a.on_state_lost([](const StateLoss&) { throw std::runtime_error("lost"); });
  booted.device.set_persistent_power(PsramPower::kOff);
  EXPECT_EQ(told, (std::vector<std::string>{"a:x", "removed:x", "b:y"}));
  booted.device.set_persistent_power(PsramPower::kOn);
  booted.device.set_persistent_power(PsramPower::kOff);  // nothing is left to lose
  EXPECT_EQ(told.size(), 3u);
  a.remove_listener(removed);
  a.acknowledge_loss();
  Job job = started(pa);
  job.run();
  booted.device.set_persistent_power(PsramPower::kOff);
  EXPECT_EQ(told, (std::vector<std::string>{"a:x", "removed:x", "b:y", "a:x"}));
}

TEST(StateLost, AListenerMayAcknowledgeAndRunAgain) {
  Booted booted;
  Context context = booted.device.create_context();
  LoadedProgram program = context.load(with_variable());
  Job job = started(program);
  int runs = 0;
  context.on_state_lost([&](const StateLoss&) {
    context.acknowledge_loss();
    job.run();
    ++runs;
  });
  booted.device.set_persistent_power(PsramPower::kOff);
  EXPECT_EQ(runs, 1);
  EXPECT_FALSE(context.state_lost());
}

TEST(StateLost, APowerDownThatNobodyAskedForIsFoundByAJob) {
  Booted booted;
  Context a = booted.device.create_context(), b = booted.device.create_context();
  LoadedProgram pa = a.load(with_variable("x")), pb = b.load(with_variable("y"));
  int told = 0;
  b.on_state_lost([&](const StateLoss& loss) {
    EXPECT_EQ(loss.identities, std::vector<std::string>{"y"});
    ++told;
  });
  booted.firmware.on_run = [&](const MockFirmware::Run& run) {
    booted.mock.power_persistent(PsramPower::kOff);
    booted.mock.power_persistent(PsramPower::kOn);
    booted.firmware.fail(run, ErrorCode::kPowerLost);
  };
  Job ja = started(pa), jb = started(pb);
  const auto [code, text] = error_of([&] { ja.run(); });
  EXPECT_EQ(code, ErrorCode::kPowerLost);
  EXPECT_CONTAINS(text, "acknowledge_loss()");
  EXPECT_EQ(told, 1);
  EXPECT_EQ(error_of([&] { jb.run(); }).first, ErrorCode::kPowerLost);
  EXPECT_CONTAINS(error_of([&] { jb.run(); }).second, "'y'");
  booted.firmware.on_run = [&](const MockFirmware::Run& run) {
    EXPECT_EQ(booted.mock.get_register(reg::kPsramStatus), 0u);
    booted.firmware.complete(run);
  };
  a.acknowledge_loss();
  b.acknowledge_loss();
  ja.run();
  jb.run();
  EXPECT_EQ(told, 1);
}

TEST(StateLost, JobsFromBeforeAKnownLossLoseNothingAnew) {
  Booted booted;
  Context a = booted.device.create_context(), b = booted.device.create_context();
  LoadedProgram pa = a.load(with_variable("x")), pb = b.load(with_variable("y"));
  std::vector<MockFirmware::Run> runs;
  booted.firmware.on_run = [&](const MockFirmware::Run& run) { runs.push_back(run); };
  Job ja = started(pa), jb = started(pb);
  ja.start();
  jb.start();
  booted.mock.power_persistent(PsramPower::kOff);
  booted.mock.power_persistent(PsramPower::kOn);
  booted.firmware.fail(runs.at(0), ErrorCode::kPowerLost);
  EXPECT_EQ(error_of([&] { static_cast<void>(ja.wait(std::chrono::seconds(1))); }).first, ErrorCode::kPowerLost);
  a.acknowledge_loss();
  const LoadedProgram again = a.load(with_variable("x"));
  booted.firmware.fail(runs.at(1), ErrorCode::kPowerLost);
  EXPECT_EQ(error_of([&] { static_cast<void>(jb.wait(std::chrono::seconds(1))); }).first, ErrorCode::kPowerLost);
  EXPECT_FALSE(a.state_lost());
  EXPECT_EQ(a.read_variable("x").bytes.size(), 4u);
}

// Jobs in flight over a loss that another one found, however the device says that they ended.
class OverALoss : public testing::Test {
 protected:
  OverALoss() {
    booted_.firmware.on_run = [this](const MockFirmware::Run& run) { runs_.push_back(run); };
    ja_.start();
    jb_.start();
    stateless_.start();
    booted_.firmware.fail(runs_.at(1), ErrorCode::kPowerLost);
    const auto [code, text] = ended(jb_);
    EXPECT_EQ(code, ErrorCode::kPowerLost);
    EXPECT_CONTAINS(text, "'w', 'y'");
    EXPECT_CONTAINS(text, "acknowledge_loss()");
    EXPECT_TRUE(a_.state_lost());
  }
  static std::pair<ErrorCode, std::string> ended(Job& job) {
    return error_of([&] { static_cast<void>(job.wait(std::chrono::seconds(1))); });
  }

  Booted booted_;
  std::vector<MockFirmware::Run> runs_;
  Context a_ = booted_.device.create_context(), b_ = booted_.device.create_context();
  LoadedProgram pa_ = a_.load(with_variable("x")), pb_ = b_.load(with_variable("y")),
                more_ = b_.load(with_variable("w")), pc_ = a_.load(make_program());
  Job ja_ = started(pa_), jb_ = started(pb_), stateless_ = started(pc_);
};

TEST_F(OverALoss, AJobThatEndsWellCountsForNothing) {
  booted_.firmware.complete(runs_.at(0));
  const auto [code, text] = ended(ja_);
  EXPECT_EQ(code, ErrorCode::kPowerLost);
  EXPECT_CONTAINS(text, "what this context held in 'x'; call acknowledge_loss()");
  a_.acknowledge_loss();  // a job without variables may be in flight
  const LoadedProgram again = a_.load(with_variable("x"));
  EXPECT_EQ(a_.variables().at(0).invocations, 0u);
  booted_.firmware.complete(runs_.at(2));
  EXPECT_TRUE(stateless_.wait(std::chrono::seconds(1)));  // it had nothing to lose
}

TEST_F(OverALoss, AnyOtherFaultIsTheLoss) {
  booted_.firmware.fail(runs_.at(0), ErrorCode::kFaultBadRegion);
  const auto [code, text] = ended(ja_);
  EXPECT_EQ(code, ErrorCode::kPowerLost);
  EXPECT_CONTAINS(text, "what this context held in 'x'; call acknowledge_loss()");
  booted_.firmware.fail(runs_.at(2), ErrorCode::kFaultBadRegion);
  EXPECT_EQ(ended(stateless_).first, ErrorCode::kFaultBadRegion);
}

// It would find the table entries of the variables that start anew, and write them.
TEST_F(OverALoss, IsNotAcknowledgedWhileAJobFromBeforeItIsInFlight) {
  const auto [code, text] = error_of([&] { a_.acknowledge_loss(); });
  EXPECT_EQ(code, ErrorCode::kWrongOrder);
  EXPECT_CONTAINS(text, "cannot acknowledge a loss while a job that uses variables of the context is in flight; wait");
  EXPECT_TRUE(a_.state_lost());
  b_.acknowledge_loss();  // its job has ended
  EXPECT_FALSE(b_.state_lost());
  booted_.firmware.complete(runs_.at(0));
  EXPECT_EQ(ended(ja_).first, ErrorCode::kPowerLost);
  a_.acknowledge_loss();
  EXPECT_FALSE(a_.state_lost());
}

TEST(StateLost, AContextMayGoWhileItIsLost) {
  Booted booted;
  int told = 0;
  {
    Context context = booted.device.create_context();
    context.on_state_lost([&](const StateLoss&) { ++told; });
    const LoadedProgram program = context.load(with_variable());
    booted.device.set_persistent_power(PsramPower::kOff);
  }
  EXPECT_EQ(told, 1);
  Context next = booted.device.create_context();
  EXPECT_FALSE(next.state_lost());
  booted.device.set_persistent_power(PsramPower::kOn);
  const LoadedProgram program = next.load(with_variable());
  EXPECT_EQ(next.read_variable("v").bytes, (std::vector<uint8_t>{1, 2, 3, 4}));
}

TEST(StateLost, AnotherThreadThatWaitsIsNotKeptByAListener) {
  Booted booted;
  booted.mock.sleeps = true;
  Context a = booted.device.create_context(), b = booted.device.create_context();
  LoadedProgram pa = a.load(with_variable("x")), pb = b.load(make_program());
  std::vector<MockFirmware::Run> runs;
  booted.firmware.on_run = [&](const MockFirmware::Run& run) { runs.push_back(run); };
  Job ja = started(pa), jb = started(pb);
  jb.start();
  ja.start();
  // The listener itself waits for another job: the thread that runs it must not lead the waiting any more.
  bool waited = false;
  a.on_state_lost([&](const StateLoss&) { waited = jb.wait(std::chrono::seconds(20)); });
  booted.mock.on_wait = [&, before = booted.mock.on_wait](MockHal& mock) {
    before(mock);
    if (runs.size() == 2) {
      booted.firmware.fail(runs[1], ErrorCode::kPowerLost);
      runs.pop_back();
    } else if (runs.size() == 1 && waited == false && a.state_lost()) {
      booted.firmware.complete(runs[0]);
      runs.pop_back();
    }
  };
  EXPECT_EQ(error_of([&] { static_cast<void>(ja.wait(std::chrono::seconds(20))); }).first, ErrorCode::kPowerLost);
  EXPECT_TRUE(waited);
}

}  // namespace
}  // namespace npu::runtime
