// SPDX-License-Identifier: Apache-2.0
// Snapshots of a context, and giving them back.
#include "tests/unit/runtime/fixture.h"

namespace npu::runtime {
namespace {

using contract::ErrorCode;

std::vector<uint8_t> bytes(std::initializer_list<uint8_t> list) { return list; }

TEST(Restore, GivesBackWhatWasSaved) {
  Opened opened;
  Context context = opened.device.create_context();
  const LoadedProgram program =
      context.load(make_program({int8_variable("b", 4, {1, 2, 3, 4}), int8_variable("a", 2), int8_variable("c", 1)}));
  context.write_variable("c", int8_value({7}));
  const Snapshot saved = context.snapshot("net.tosa");
  EXPECT_EQ(saved.label, "net.tosa");
  ASSERT_EQ(saved.variables.size(), 3u);
  EXPECT_EQ(saved.variables[0].identity, "a");
  EXPECT_FALSE(saved.variables[0].is_written);
  EXPECT_TRUE(saved.variables[0].bytes.empty());
  EXPECT_EQ(saved.variables[1].bytes, bytes({1, 2, 3, 4}));
  EXPECT_EQ(saved.variables[1].shape, graph::Shape{4});
  EXPECT_EQ(saved.variables[1].type, graph::DType::kInt8);
  EXPECT_EQ(saved.variables[1].tensor_name, "Variable_0");
  EXPECT_EQ(saved.variables[2].last_writer, "host");
  EXPECT_EQ(saved.owner, context.owner());
  EXPECT_EQ(saved.variables[2].place, StatePlace::kPersistentSram);

  context.write_variable("a", int8_value({5, 5}));
  context.write_variable("b", int8_value({5, 5, 5, 5}));
  context.restore(parse_snapshot(serialise(saved)));
  EXPECT_FALSE(context.variables()[1].is_written);  // "a" is unwritten again
  EXPECT_EQ(context.variables()[1].last_writer, "");
  EXPECT_EQ(context.read_variable("b").bytes, bytes({1, 2, 3, 4}));
  EXPECT_EQ(context.read_variable("c").bytes, bytes({7}));
  EXPECT_EQ(context.variables()[0].last_writer, "snapshot");
  EXPECT_TRUE(diff(context.snapshot(), saved).empty());
}

// As if it had been cleared: the snapshot of a context that had not allocated it, or `npu state clear`, says unwritten.
TEST(Restore, WhatIsUnwrittenInTheSnapshotStartsAnew) {
  for (const bool zero_init : {false, true}) {
    Opened opened;
    Context context = opened.device.create_context({.zero_init = zero_init});
    auto other = std::make_optional(context.load(make_program({int8_variable("held", 2)})));
    const LoadedProgram program =
        context.load(make_program({int8_variable("initial", 4, {1, 2, 3, 4}), int8_variable("plain", 2)}));
    Snapshot saved = context.snapshot();
    for (SnapshotVariable& variable : saved.variables) {
      variable.is_written = false;
      variable.bytes.clear();
    }
    const uint32_t index = context.variables()[1].index;
    context.write_variable("initial", int8_value({5, 5, 5, 5}));
    context.write_variable("plain", int8_value({5, 5}));
    context.write_variable("held", int8_value({5, 5}));
    other.reset();  // no program declares "held" any more
    context.restore(saved);
    EXPECT_EQ(context.read_variable("initial").bytes, bytes({1, 2, 3, 4}));
    const std::vector<VariableInfo> variables = context.variables();
    ASSERT_EQ(variables.size(), 2u);
    EXPECT_EQ(variables[0].index, index) << "it stays where it is";
    EXPECT_EQ(variables[0].last_writer, "");
    EXPECT_EQ(variables[0].invocations, 0u);
    EXPECT_EQ(variables[1].is_written, zero_init);
    if (zero_init) {
      EXPECT_EQ(context.read_variable("plain").bytes, bytes({0, 0}));
    }
  }
}

TEST(Restore, AllocatesWhatLoadedProgramsDeclare) {
  Opened opened;
  Context context = opened.device.create_context();
  const LoadedProgram program = context.load(make_program({int8_variable("a", 4, {1, 2, 3, 4})}));
  const Snapshot saved = context.snapshot();
  context.clear();
  EXPECT_TRUE(context.snapshot().variables.empty());
  context.restore(saved);
  EXPECT_EQ(context.read_variable("a").bytes, bytes({1, 2, 3, 4}));
}

TEST(Restore, MovesStateToAnotherDevice) {
  Snapshot saved;
  {
    Opened opened;
    Context context = opened.device.create_context();
    const LoadedProgram program = context.load(make_program({int8_variable("a", 4)}));
    context.write_variable("a", int8_value({9, 8, 7, 6}));
    saved = context.snapshot();
  }
  Booted booted;
  Context context = booted.device.create_context();
  const LoadedProgram program = context.load(make_program({int8_variable("a", 4)}));
  context.restore(saved);
  EXPECT_EQ(context.read_variable("a").bytes, bytes({9, 8, 7, 6}));
}

TEST(Restore, RefusesWhatDoesNotFitAndChangesNothing) {
  Opened opened;
  Context context = opened.device.create_context();
  const LoadedProgram program =
      context.load(make_program({int8_variable("a", 4, {1, 2, 3, 4}), int8_variable("b", 2, {5, 6})}));
  const Snapshot saved = context.snapshot();
  const auto refused = [&](const Snapshot& snapshot) {
    opened.mock.clear_log();
    const auto [code, text] = error_of([&] { context.restore(snapshot); });
    EXPECT_EQ(code, ErrorCode::kBadSnapshot) << text;
    for (const MockHal::Access& access : opened.mock.log()) {
      EXPECT_NE(access.kind, MockHal::Kind::kWritePersistent);
      EXPECT_NE(access.kind, MockHal::Kind::kWriteMemory);
    }
    return text;
  };
  Snapshot other = saved;
  other.variables.pop_back();
  EXPECT_CONTAINS(refused(other), "the snapshot has no 'b'");
  other = saved;
  other.variables.push_back(saved.variables[0]);
  other.variables.back().identity = "c";
  EXPECT_CONTAINS(refused(other), "no loaded program declares 'c'");
  other.variables.erase(other.variables.begin());
  EXPECT_CONTAINS(refused(other), "no loaded program declares 'c' of the snapshot, and the snapshot has no 'a'");
  other = saved;
  other.variables[1].shape = {1, 2};
  EXPECT_CONTAINS(refused(other), "'b' is INT8[1, 2] in the snapshot, but declared as INT8[2]");
  other = saved;
  other.variables[1].type = graph::DType::kBool;
  other.variables[1].bytes = {1, 0};
  EXPECT_CONTAINS(refused(other), "'b' is BOOL[2] in the snapshot");
  other = saved;
  other.variables[0].bytes.pop_back();
  refused(other);
  EXPECT_TRUE(diff(context.snapshot(), saved).empty());
}

TEST(Restore, IsRefusedWhileAJobOfTheContextRuns) {
  Opened opened;
  opened.mock.on_start = [](MockHal&) {};
  Context context = opened.device.create_context();
  LoadedProgram program = context.load(make_program({int8_variable("v", 4)}));
  const Snapshot saved = context.snapshot();
  Job job = program.create_job();
  job.set_input(0, int8_value({1, 2, 3, 4}));
  job.start();
  EXPECT_EQ(error_of([&] { static_cast<void>(context.snapshot()); }).first, ErrorCode::kWrongOrder);
  EXPECT_EQ(error_of([&] { context.restore(saved); }).first, ErrorCode::kWrongOrder);
  opened.mock.end_job();
  EXPECT_TRUE(job.wait(std::chrono::seconds(1)));
  context.restore(saved);
}

TEST(Invocations, CountJobsThatEndedWellAndTellTheWriter) {
  Opened opened;
  Context context = opened.device.create_context();
  compiler::Variable written = int8_variable("w", 4);
  written.written = true;
  written.writer = "conv2d_3";
  LoadedProgram program = context.load(make_program({written, int8_variable("r", 4, {1, 2, 3, 4})}));
  Job job = program.create_job();
  job.set_input(0, int8_value({1, 2, 3, 4}));
  EXPECT_EQ(context.variables()[0].last_writer, "");
  job.run();
  job.run();
  opened.mock.on_start = [](MockHal& mock) { mock.end_job_with_fault(ErrorCode::kFaultBus); };
  EXPECT_THROW(job.run(), FaultError);
  EXPECT_EQ(context.variables()[0].invocations, 2u);
  EXPECT_EQ(context.variables()[0].last_writer, "conv2d_3");
  EXPECT_EQ(context.variables()[1].invocations, 2u);
  EXPECT_EQ(context.variables()[1].last_writer, "");

  context.write_variable("w", int8_value({1, 2, 3, 4}));
  EXPECT_EQ(context.variables()[0].last_writer, "host");
  EXPECT_EQ(context.variables()[0].invocations, 2u);
  const Snapshot saved = context.snapshot();
  context.clear("w");
  context.restore(saved);
  EXPECT_EQ(context.variables()[0].invocations, 2u);
}

}  // namespace
}  // namespace npu::runtime
