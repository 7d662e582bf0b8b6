// SPDX-License-Identifier: Apache-2.0
// Random code on the whole chip, with pointers into its registers: whatever the CPU does to mailbox and core, the host
// stays well, and a reset brings the chip back.
#include "tests/firmware/cpu/bench.h"
#include "tests/firmware/cpu/random_code.h"

namespace npu::model::testing {
namespace {

// Sets the registers with which a program starts.
class Starter : public CpuDebugger {
 public:
  explicit Starter(CpuDebugPort& port) : port_(port) {}
  Resume halted(Halt why) override {
    if (why == Halt::kReset) {
      for (uint32_t i = 1; i < 32; ++i) port_.set_debug_register(i, values[i]);
    }
    return Resume::kContinue;
  }
  bool interrupt_requested() override { return false; }
  std::array<uint32_t, 32> values{};

 private:
  CpuDebugPort& port_;
};

// csrw mtvec, x5: the first instruction of every program.
constexpr uint32_t kSetVector = 0x30529073;

uint32_t random_register(std::mt19937& random) {
  constexpr std::array<uint32_t, 6> kPlaces = {
      0, reg::kControl, reg::kRegionBaseLo, reg::kDoorbell, reg::kInterruptPending, reg::kEnginePower};
  return contract::kCpuRegistersBase + kPlaces[random() % kPlaces.size()] + (random() & 0x3c);
}

TEST(ChipFuzz, RandomCodeIsHarmless) {
  Bench bench;
  Starter starter(bench.cpu());
  bench.cpu().attach(&starter);
  uint64_t instructions = 0;
  std::array<int, 4> stops{};
  for (uint32_t seed = 0; seed < 400; ++seed) {
    std::mt19937 random(seed);
    std::vector<char> code(contract::kCpuCodeBytes);
    fill_randomly({reinterpret_cast<uint8_t*>(code.data()), code.size()}, seed);
    std::memcpy(code.data(), &kSetVector, 4);
    for (uint32_t& value : starter.values) value = random() % 2 == 0 ? random_register(random) : random_pointer(random);
    starter.values[5] = kRandomHandler;
    bench.load_bytes(code);
    bench.release();
    bench.run_us(20);
    bench.write(reg::kDoorbell, seed % 20);
    bench.run_us(20);
    instructions += bench.cpu().retired();
    ++stops[static_cast<size_t>(bench.stop_reason())];
    bench.hold();
    bench.run_us(1);
  }
  EXPECT_GT(instructions, 100'000u);
  EXPECT_GT(stops[static_cast<size_t>(contract::CpuStop::kTrap)], 10);
  bench.cpu().attach(nullptr);
  ASSERT_TRUE(bench.start("hello"));
  EXPECT_EQ(bench.result(0), reg::kIdReset);
}

}  // namespace
}  // namespace npu::model::testing
