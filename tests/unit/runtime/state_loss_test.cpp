// SPDX-License-Identifier: Apache-2.0
// Losses and changes of power that the driver did not ask for, found by its next call.
#include <functional>

#include "tests/unit/runtime/fixture.h"

namespace npu::runtime {
namespace {

using contract::ErrorCode;
using contract::PsramPower;
using contract::Request;
namespace reg = contract::reg;

void lose(MockHal& mock) {
  mock.power_persistent(PsramPower::kOff);
  mock.power_persistent(PsramPower::kOn);
}

template <typename Way>
class Unasked : public testing::Test {
 protected:
  Way way_;
};
using LossWays = testing::Types<Opened>;  // behind firmware only jobs see it
TYPED_TEST_SUITE(Unasked, LossWays);

TYPED_TEST(Unasked, ALossIsFoundByEveryCallAboutVariables) {
  Context context = this->way_.device.create_context();
  LoadedProgram program = context.load(with_variable("x"));
  const Snapshot saved = context.snapshot();
  int told = 0;
  context.on_state_lost([&](const StateLoss& loss) {
    EXPECT_EQ(loss.identities, std::vector<std::string>{"x"});
    ++told;
  });
  const std::vector<std::function<void()>> calls = {
      [&] { static_cast<void>(context.variables()); },
      [&] { static_cast<void>(context.read_variable("x")); },
      [&] {
        context.write_variable("x", int8_value({9, 9, 9, 9}));
      },
      [&] { context.clear(); },
      [&] { context.clear("x"); },
      [&] { static_cast<void>(context.snapshot()); },
      [&] { context.restore(saved); },
      [&] { static_cast<void>(context.load(with_variable("y"))); },
      [&] { started(program).run(); },
  };
  int losses = 0;
  for (const std::function<void()>& call : calls) {
    lose(this->way_.mock);
    const auto [code, text] = error_of(call);
    EXPECT_EQ(code, ErrorCode::kPowerLost) << losses << ": " << text;
    EXPECT_CONTAINS(text, "held in 'x'; call acknowledge_loss()");
    EXPECT_EQ(told, ++losses);
    EXPECT_TRUE(context.state_lost());
    context.acknowledge_loss();
    started(program).run();
    EXPECT_EQ(context.read_variable("x").bytes, (std::vector<uint8_t>{1, 2, 3, 4}));
  }
  lose(this->way_.mock);
  EXPECT_TRUE(context.state_lost());
  context.acknowledge_loss();
  EXPECT_FALSE(context.state_lost());
}

TYPED_TEST(Unasked, ASecondLossIsFoundBeforeAJobHasRun) {
  Context context = this->way_.device.create_context();
  LoadedProgram program = context.load(with_variable());
  this->way_.device.set_persistent_power(PsramPower::kOff);
  this->way_.device.set_persistent_power(PsramPower::kOn);
  context.acknowledge_loss();
  const LoadedProgram again = context.load(with_variable());  // allocates
  EXPECT_EQ(this->way_.mock.get_register(reg::kPsramStatus), 0u);
  context.write_variable("v", int8_value({9, 9, 9, 9}));
  lose(this->way_.mock);
  Job job = started(program);
  EXPECT_EQ(error_of([&] { job.run(); }).first, ErrorCode::kPowerLost);
  EXPECT_TRUE(context.state_lost());
  context.acknowledge_loss();
  job.run();
}

TYPED_TEST(Unasked, RetentionIsSeenAndEndedByTheNextJob) {
  MockHal& mock = this->way_.mock;
  Context context = this->way_.device.create_context();
  LoadedProgram program = context.load(with_variable());
  mock.power_persistent(PsramPower::kRetention);
  EXPECT_EQ(this->way_.device.persistent_power(), PsramPower::kRetention);
  for (const std::function<void()>& call : std::vector<std::function<void()>>{
           [&] { static_cast<void>(context.variables()); }, [&] { static_cast<void>(context.read_variable("v")); }}) {
    const auto [code, text] = error_of(call);
    EXPECT_EQ(code, ErrorCode::kFaultPower);
    EXPECT_CONTAINS(text, "in retention; switch it on with set_persistent_power(), or run a job");
  }
  Job job = started(program);
  job.run();
  EXPECT_TRUE(mock.persistent_is_on());
  EXPECT_EQ(context.read_variable("v").bytes, (std::vector<uint8_t>{1, 2, 3, 4}));
  mock.power_persistent(PsramPower::kRetention);
  this->way_.device.set_persistent_power(PsramPower::kOn);
  EXPECT_TRUE(mock.persistent_is_on());
}

// The loss comes to light while the driver waits for the answer to a request of its own.
class Meanwhile : public testing::Test {
 protected:
  Meanwhile() {
    booted_.firmware.on_run = [this](const MockFirmware::Run& run) { runs_.push_back(run); };
    job_.start();
  }
  // At the next request of this type.
  void lose_at(Request type) {
    booted_.firmware.on_admin = [this, type](const contract::RingRequest& request) {
      if (runs_.empty() || request.type != static_cast<uint32_t>(type)) return;
      lose(booted_.mock);
      booted_.firmware.fail(runs_.back(), ErrorCode::kPowerLost);
      runs_.pop_back();
    };
  }
  void expect_lost(const std::function<void()>& call, const std::string& part) {
    const auto [code, text] = error_of(call);
    EXPECT_EQ(code, ErrorCode::kPowerLost) << text;
    EXPECT_CONTAINS(text, part);
    EXPECT_TRUE(runs_.empty());
    EXPECT_TRUE(other_.state_lost());
    EXPECT_EQ(booted_.device.memory_use().variables, 0u);
    EXPECT_EQ(booted_.device.memory_use().persistent_used, 0u);
    EXPECT_EQ(booted_.device.memory_use().state_dram_used, 0u);
    const auto [job_code, job_text] = error_of([&] { static_cast<void>(job_.wait(std::chrono::seconds(1))); });
    EXPECT_EQ(job_code, ErrorCode::kPowerLost);
    EXPECT_CONTAINS(job_text, "held in 'y'");
    // Everything works again.
    booted_.firmware.on_run = [this](const MockFirmware::Run& run) { booted_.firmware.complete(run); };
    other_.acknowledge_loss();
    context_.acknowledge_loss();
    job_.run();
    LoadedProgram program = context_.load(with_variable("x"));
    started(program).run();
    EXPECT_EQ(context_.read_variable("x").bytes, (std::vector<uint8_t>{1, 2, 3, 4}));
  }

  Booted booted_;
  std::vector<MockFirmware::Run> runs_;
  Context other_ = booted_.device.create_context();
  Context context_ = booted_.device.create_context(), twice_ = booted_.device.create_context({.double_buffer = true});
  LoadedProgram program_ = other_.load(with_variable("y"));
  Job job_ = started(program_);
};

TEST_F(Meanwhile, ProgramsAreLoaded) {
  lose_at(Request::kVariableWrite);
  expect_lost([&] { static_cast<void>(context_.load(with_variable("x"))); }, "'x'");
}

TEST_F(Meanwhile, VariablesAreListed) {
  const LoadedProgram program =
      context_.load(make_program({int8_variable("w", 4), int8_variable("x, of a name that is no short one", 4)}));
  lose_at(Request::kVariableRead);
  expect_lost([&] { static_cast<void>(context_.variables()); }, "'w', 'x, of a name that is no short one'");
}

TEST_F(Meanwhile, AVariableIsRead) {
  const LoadedProgram program = context_.load(with_variable("x"));
  lose_at(Request::kVariableRead);
  expect_lost([&] { static_cast<void>(context_.read_variable("x")); }, "'x'");
}

TEST_F(Meanwhile, AVariableIsWritten) {
  const LoadedProgram program = context_.load(with_variable("x"));
  lose_at(Request::kVariableWrite);
  expect_lost([&] { context_.write_variable("x", int8_value({9, 9, 9, 9})); }, "'x'");
}

TEST_F(Meanwhile, ASnapshotIsRestored) {
  const LoadedProgram program = context_.load(make_program({int8_variable("x", 4, {1, 2, 3, 4})}));
  const Snapshot saved = context_.snapshot();
  context_.clear();
  lose_at(Request::kVariableWrite);
  expect_lost([&] { context_.restore(saved); }, "'x'");
}

TEST_F(Meanwhile, VariablesMoveToMakeRoom) {
  // 960 bytes behind the table: 16 for y, then 304, 304 and 304, of which the middle one goes.
  Context middle = booted_.device.create_context();
  const LoadedProgram a = context_.load(make_program({int8_variable("a", 304)}));
  {
    const LoadedProgram gone = middle.load(make_program({int8_variable("b", 304)}));
    const LoadedProgram c = context_.load(make_program({int8_variable("c", 304)}));
    middle.clear();
  }
  lose_at(Request::kVariableRead);
  expect_lost([&] { static_cast<void>(middle.load(make_program({int8_variable("d", 310)}))); },
              "lost its power during the call");
}

TEST_F(Meanwhile, AVariableGetsItsSecondPlace) {
  const LoadedProgram first = twice_.load(make_program({int8_variable("x", 32, std::vector<uint8_t>(32, 7))}));
  compiler::Variable written = int8_variable("x", 32, std::vector<uint8_t>(32, 7));
  written.written = true;
  lose_at(Request::kVariableWrite);
  expect_lost([&] { static_cast<void>(twice_.load(make_program({written}))); }, "'x'");
}

}  // namespace
}  // namespace npu::runtime
