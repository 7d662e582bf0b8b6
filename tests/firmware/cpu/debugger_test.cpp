// SPDX-License-Identifier: Apache-2.0
// The debugger's port: halts, steps, breakpoints, and what a debugger sees.
#include <deque>
#include <utility>

#include "tests/firmware/cpu/bench.h"

namespace npu::model::testing {
namespace {

using Halt = CpuDebugger::Halt;
using Resume = CpuDebugger::Resume;

// spin.S: lui, c.li, and then the loop.
constexpr uint32_t kSpin = 6;

// Answers from a list; continues when that is used up. Runs `look` at every halt.
class Script : public CpuDebugger {
 public:
  explicit Script(std::deque<Resume> answers) : answers_(std::move(answers)) {}
  Resume halted(Halt why) override {
    halts.push_back(why);
    if (look) look(why);
    if (answers_.empty()) return Resume::kContinue;
    const Resume answer = answers_.front();
    answers_.pop_front();
    return answer;
  }
  bool interrupt_requested() override { return std::exchange(interrupt, false); }

  std::vector<Halt> halts;
  std::function<void(Halt)> look;
  bool interrupt = false;

 private:
  std::deque<Resume> answers_;
};

struct Session {
  explicit Session(std::deque<Resume> answers, const std::string& program = "spin") : script(std::move(answers)) {
    bench.cpu().attach(&script);
    bench.load(program);
  }
  Bench bench;
  Script script;
};

uint32_t read_word(CpuDebugPort& port, uint32_t address) {
  uint32_t value = 0;
  EXPECT_TRUE(port.debug_read(address, {reinterpret_cast<uint8_t*>(&value), 4})) << std::hex << address;
  return value;
}

bool write_word(CpuDebugPort& port, uint32_t address, uint32_t value) {
  return port.debug_write(address, {reinterpret_cast<const uint8_t*>(&value), 4});
}

TEST(CpuDebugger, HaltsAtResetAndSteps) {
  Session session({Resume::kStep, Resume::kStep, Resume::kStep});
  CpuDebugPort& port = session.bench.cpu();
  std::vector<uint32_t> pcs;
  std::vector<sc_time> times;
  session.script.look = [&](Halt) {
    pcs.push_back(port.debug_register(kIssPc));
    times.push_back(sc_core::sc_time_stamp());
  };
  session.bench.release();
  session.bench.run_us(10);
  EXPECT_EQ(session.script.halts, (std::vector<Halt>{Halt::kReset, Halt::kStep, Halt::kStep, Halt::kStep}));
  EXPECT_EQ(pcs, (std::vector<uint32_t>{0, 4, kSpin, kSpin + 2}));
  for (size_t i = 1; i < times.size(); ++i) EXPECT_EQ(times[i] - times[i - 1], session.bench.cpu_period());
}

TEST(CpuDebugger, BreaksEveryTimeAround) {
  Session session({});
  CpuDebugPort& port = session.bench.cpu();
  port.set_breakpoint(kSpin, true);
  std::vector<uint32_t> counts;
  session.script.look = [&](Halt why) {
    if (why != Halt::kBreakpoint) return;
    EXPECT_EQ(port.debug_register(kIssPc), kSpin);
    counts.push_back(port.debug_register(8));
    if (counts.size() == 3) port.set_debug_register(8, 100);
    if (counts.size() == 5) port.set_breakpoint(kSpin, false);
  };
  session.bench.release();
  session.bench.run_us(10);
  EXPECT_EQ(counts, (std::vector<uint32_t>{0, 1, 2, 101, 102}));
  EXPECT_GT(session.bench.result(0), 300u);  // and then it runs freely
}

TEST(CpuDebugger, BreakpointsSurviveReset) {
  Session session({});
  session.bench.cpu().set_breakpoint(kSpin + 2, true);
  session.bench.release();
  session.bench.run_us(1);
  const size_t before = session.script.halts.size();
  session.bench.hold();
  session.bench.release();
  session.bench.run_us(1);
  ASSERT_GT(session.script.halts.size(), before + 1);
  EXPECT_EQ(session.script.halts[before], Halt::kReset);
  EXPECT_EQ(session.script.halts[before + 1], Halt::kBreakpoint);
}

TEST(CpuDebugger, InterruptsAndHalts) {
  Session session({});
  session.bench.release();
  session.bench.run_us(1);
  session.script.interrupt = true;
  session.bench.run_us(1);
  session.bench.cpu().request_halt();
  session.bench.run_us(1);
  EXPECT_EQ(session.script.halts, (std::vector<Halt>{Halt::kReset, Halt::kInterrupt, Halt::kInterrupt}));
}

TEST(CpuDebugger, HaltsInWfiAndGoesBackToIt) {
  Session session({}, "echo");
  session.bench.release();
  ASSERT_TRUE(session.bench.settle());
  session.bench.cpu().request_halt();
  session.bench.run_us(1);
  EXPECT_EQ(session.script.halts, (std::vector<Halt>{Halt::kReset, Halt::kInterrupt}));
  EXPECT_TRUE(session.bench.cpu().waiting());
  session.bench.write(reg::kDoorbell, 0);
  session.bench.run_us(5);
  EXPECT_EQ(session.bench.result(0), 1u);
}

TEST(CpuDebugger, StoppedStaysStopped) {
  Session session({Resume::kContinue, Resume::kStep}, "stop_no_vector");
  session.bench.release();
  session.bench.run_us(10);
  EXPECT_EQ(session.script.halts, (std::vector<Halt>{Halt::kReset, Halt::kStopped}));
  EXPECT_FALSE(session.bench.cpu().running());
}

TEST(CpuDebugger, SeesMemoryWithoutSideEffects) {
  Session session({}, "hello");
  CpuDebugPort& port = session.bench.cpu();
  session.bench.release();
  ASSERT_TRUE(session.bench.settle());
  EXPECT_EQ(read_word(port, contract::kCpuDataBase), reg::kIdReset);
  EXPECT_EQ(read_word(port, contract::kCpuDramBase + 0x100), 0x12345678u);
  EXPECT_EQ(read_word(port, contract::kCpuRegistersBase + reg::kId), reg::kIdReset);
  EXPECT_TRUE(write_word(port, contract::kCpuRegistersBase + reg::kUart, 'x'));
  EXPECT_EQ(session.bench.uart, "A");
  EXPECT_TRUE(write_word(port, contract::kCpuDataBase + 8, 77));
  EXPECT_EQ(session.bench.result(2), 77u);
  EXPECT_TRUE(write_word(port, contract::kCpuDramBase + 0x200, 88));
  EXPECT_EQ(session.bench.dram().data[0x200], 88);
  EXPECT_FALSE(write_word(port, contract::kCpuCodeBase, 0));
  uint32_t word = 0;
  const std::span<uint8_t> bytes(reinterpret_cast<uint8_t*>(&word), 4);
  EXPECT_FALSE(port.debug_read(0x40000000, bytes));
  EXPECT_FALSE(port.debug_read(contract::kCpuCodeBytes - 2, bytes));
  EXPECT_FALSE(port.debug_read(contract::kCpuDramBase + (1 << 20), bytes));
  EXPECT_FALSE(port.debug_read(contract::kCpuRegistersBase + 0x7fc, bytes));
  EXPECT_EQ(port.debug_csr(0x301), 0x40001105u);
}

}  // namespace
}  // namespace npu::model::testing
