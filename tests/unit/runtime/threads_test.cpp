// SPDX-License-Identifier: Apache-2.0
// Several threads on one device, written for the thread sanitizer as well: preset `tsan`.
#include <atomic>
#include <thread>

#include "driver/runtime/monitor.h"
#include "tests/unit/runtime/fixture.h"

namespace npu::runtime {
namespace {

using contract::ErrorCode;
using std::chrono::milliseconds;

constexpr std::chrono::nanoseconds kLong = std::chrono::hours(10);

Job make_job(LoadedProgram& program) {
  Job job = program.create_job();
  job.set_input(0, int8_value({1, 2, 3, 4}));
  return job;
}

// Output y of a job is the first four bytes of its input.
void copy_input(MockHal& mock, const contract::Job& job) {
  const uint64_t in = job.region_base[3] + 16, out = job.region_base[4] + 32;
  std::vector<uint8_t>& dram = mock.dram(1 << 20);
  for (uint64_t i = 0; i < 4; ++i) dram[out + i] = dram[in + i];
}

TEST(Threads, ContextsRunConcurrentlyAndEachJobGetsItsOwnResult) {
  Booted booted;
  booted.firmware.on_run = [&](const MockFirmware::Run& run) {
    copy_input(booted.mock, run.job);
    booted.firmware.complete_later(run);
  };
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      Context context = booted.device.create_context({.priority = static_cast<uint32_t>(t)});
      LoadedProgram program = context.load(make_program({int8_variable("v", 4, {1, 2, 3, 4})}));
      Job job = program.create_job();
      for (int i = 0; i < 50; ++i) {
        const std::vector<uint8_t> input = {static_cast<uint8_t>(t), static_cast<uint8_t>(i), 7, 9};
        job.set_input(0, int8_value(input));
        job.run();
        if (job.output("y").bytes == input) ++right;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 200);
}

TEST(Threads, ManyWaitForOneJob) {
  Booted booted;
  booted.mock.sleeps = true;
  std::atomic<int> looked = 0;
  booted.firmware.on_run = [&](const MockFirmware::Run&) {};
  Context context = booted.device.create_context();
  LoadedProgram program = context.load(make_program());
  Job job = make_job(program);
  job.start();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      const auto [code, text] = error_of([&] { static_cast<void>(job.wait(kLong)); });
      if (code == ErrorCode::kJobCancelled) ++looked;
    });
  }
  job.cancel();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(looked, 4);
}

TEST(Threads, AnotherThreadSubmitsWhileTheLeaderWaits) {
  Booted booted;
  booted.mock.sleeps = true;  // a wait lasts until somebody wakes it
  Context slow = booted.device.create_context();
  LoadedProgram slow_program = slow.load(make_program());
  Context fast = booted.device.create_context({.priority = 1});
  LoadedProgram fast_program = fast.load(make_program());
  std::vector<MockFirmware::Run> held;
  booted.firmware.on_run = [&](const MockFirmware::Run& run) {
    if (run.ring == 1) {
      held.push_back(run);
    } else {
      for (const MockFirmware::Run& other : held) booted.firmware.complete(other);
      booted.firmware.complete(run);
    }
  };
  Job first = make_job(slow_program);
  first.start();
  std::thread leader([&] { EXPECT_TRUE(first.wait(kLong)); });
  std::this_thread::sleep_for(milliseconds(20));
  Job second = make_job(fast_program);
  second.run();  // in a moment, although the leader's wait would last longer
  leader.join();
  EXPECT_EQ(first.outputs().size(), 1u);
}

TEST(Threads, AFollowersTimeoutPasses) {
  Booted booted;
  booted.mock.sleeps = true;
  booted.firmware.on_run = [](const MockFirmware::Run&) {};
  Context a = booted.device.create_context(), b = booted.device.create_context();
  LoadedProgram pa = a.load(make_program()), pb = b.load(make_program());
  Job first = make_job(pa), second = make_job(pb);
  first.start();
  second.start();
  std::thread leader(
      [&] { EXPECT_EQ(error_of([&] { static_cast<void>(first.wait(kLong)); }).first, ErrorCode::kJobCancelled); });
  EXPECT_FALSE(second.wait(milliseconds(30)));
  first.cancel();
  leader.join();
  EXPECT_FALSE(second.wait(milliseconds(1)));
}

TEST(Threads, QuestionsDoNotKeepTheDeviceFromMoving) {
  Booted booted;
  std::atomic<bool> over = false;
  booted.firmware.on_run = [&](const MockFirmware::Run& run) { booted.firmware.complete_later(run); };
  Context context = booted.device.create_context();
  LoadedProgram program = context.load(make_program());
  std::vector<std::thread> askers;
  for (int t = 0; t < 3; ++t) {
    askers.emplace_back([&] {
      while (!over) {
        static_cast<void>(booted.device.time());
        static_cast<void>(booted.device.memory_use());
      }
    });
  }
  Job job = make_job(program);
  for (int i = 0; i < 20; ++i) job.run();
  over = true;
  for (std::thread& thread : askers) thread.join();
}

TEST(Threads, RecoveryReachesEveryWaitingThread) {
  Booted booted;
  booted.firmware.on_run = [&](const MockFirmware::Run& run) {
    if (run.ring == 3) booted.firmware.stop(contract::CpuStop::kTrap, 0x10, 2, 0);
  };
  std::vector<Context> contexts;
  std::vector<LoadedProgram> programs;
  std::vector<Job> jobs;
  for (int i = 0; i < 3; ++i) {
    contexts.push_back(booted.device.create_context());
    programs.push_back(contexts.back().load(make_program()));
    jobs.push_back(make_job(programs.back()));
  }
  std::atomic<int> failed = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    jobs[i].start();
    threads.emplace_back([&, i] {
      if (error_of([&] { static_cast<void>(jobs[i].wait(kLong)); }).first == ErrorCode::kFaultFirmware) ++failed;
    });
  }
  EXPECT_EQ(error_of([&] { jobs[2].run(); }).first, ErrorCode::kFaultFirmware);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed, 2);
  EXPECT_EQ(booted.firmware.boots(), 2);
}

TEST(Threads, HandlesMayGoInAnyThread) {
  Booted booted;
  booted.firmware.on_run = [&](const MockFirmware::Run& run) { booted.firmware.complete_later(run); };
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        Context context = booted.device.create_context();
        LoadedProgram program = context.load(make_program({int8_variable("v", 4)}));
        Job job = make_job(program);
        job.start();  // and goes while it is in flight
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const MemoryUse use = booted.device.memory_use();
  EXPECT_EQ(use.variables, 0u);
  EXPECT_EQ(use.dram_used, 256u << 10);
  EXPECT_EQ(booted.firmware.boots(), 1);
}

TEST(Monitor, WaitingForTheLockTakesOfTheTimeout) {
  MockHal hal(small_machine());
  Monitor monitor(hal);
  const std::atomic<bool> never = false;
  std::atomic<bool> there = false;
  std::vector<std::chrono::nanoseconds> pieces;
  std::thread waiter;
  {
    const std::scoped_lock lock(monitor);
    waiter = std::thread([&] {
      there = true;
      EXPECT_FALSE(monitor.await(never, milliseconds(20), milliseconds(5), [&](std::chrono::nanoseconds piece) {
        pieces.push_back(piece);
        return Wakeup::kTimeout;
      }));
    });
    while (!there) std::this_thread::yield();
    std::this_thread::sleep_for(milliseconds(300));
  }
  waiter.join();
  // Its time is over: it looks once, without a wait.
  EXPECT_EQ(pieces, std::vector<std::chrono::nanoseconds>{std::chrono::nanoseconds(0)});
}

TEST(Monitor, IsGrantedInOrderOfAskingAndRecursive) {
  MockHal hal(small_machine());
  Monitor monitor(hal);
  int counter = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        const std::scoped_lock outer(monitor);
        const std::scoped_lock inner(monitor);
        ++counter;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counter, 2000);
  EXPECT_EQ(hal.wakes(), 0u);
}

}  // namespace
}  // namespace npu::runtime
