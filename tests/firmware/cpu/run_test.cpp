// SPDX-License-Identifier: Apache-2.0
// What the CPU executes: address map, arithmetic, CSRs, exceptions.
#include "tests/firmware/cpu/bench.h"

namespace npu::model::testing {

TEST(CpuRun, ReachesItsAddressMap) {
  Bench bench;
  EXPECT_EQ(bench.status(), 0u);
  ASSERT_TRUE(bench.start("hello"));
  EXPECT_EQ(bench.results(4), (std::vector<uint32_t>{reg::kIdReset, 0x1234, 0x78, 0}));
  EXPECT_EQ(bench.uart, "A");
  EXPECT_EQ(bench.dram().data[0x101], 0x56);
  EXPECT_EQ(bench.status(), reg::kCpuStatusRunningMask | reg::kCpuStatusWaitingMask);
}

TEST(CpuRun, Arithmetic) {
  Bench bench;
  ASSERT_TRUE(bench.start("alu"));
  const auto u = [](int32_t value) { return static_cast<uint32_t>(value); };
  EXPECT_EQ(bench.results(12), (std::vector<uint32_t>{u(-21), u(-1), 2, u(-7 + 6), u(-2), u(-1), 0x55555553u, 0, u(-1),
                                                      u(-7), 0x80000000u, 0}));
}

TEST(CpuRun, AtomicsAndCompressedCode) {
  Bench bench;
  ASSERT_TRUE(bench.start("alu"));
  std::vector<uint32_t> results = bench.results(21);
  results.erase(results.begin(), results.begin() + 12);
  const auto u = [](int32_t value) { return static_cast<uint32_t>(value); };
  EXPECT_EQ(results, (std::vector<uint32_t>{5, 3, u(-2), u(-2), 0, 1, u(-2), 7 * 16 - 7, 0x0302}));
}

TEST(CpuRun, ControlAndStatusRegisters) {
  Bench bench;
  ASSERT_TRUE(bench.start("csr"));
  EXPECT_EQ(bench.results(18),
            (std::vector<uint32_t>{0x1888, 0x1800, 0x888, 0xfffffffd, 0xfffffffe, 0x40001105, 0,  // what is kept
                                   0xf0, 0xfc, 0xc0, 21, 23, 22, 0,                               // operations
                                   0, 0xf0, 0,                                                    // counters
                                   0}));
}

struct Trap {
  uint32_t cause, value, distance;  // of mepc from the instruction
  friend bool operator==(const Trap&, const Trap&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Trap& trap) {
    return out << std::hex << "{" << trap.cause << ", " << trap.value << ", " << trap.distance << "}";
  }
};

TEST(CpuRun, ExceptionsAreTaken) {
  Bench bench;
  ASSERT_TRUE(bench.start("traps"));
  constexpr uint32_t kRegisters = contract::kCpuRegistersBase, kData = contract::kCpuDataBase,
                     kDram = contract::kCpuDramBase, kCodeEnd = contract::kCpuCodeBytes;
  // Instruction words as the manual encodes them: csrrs a0, satp; csrrs a0, time; csrrw x0, mhartid, a0; sret.
  const std::vector<Trap> plain = {
      {2, 0xffffffff, 0}, {2, 0, 0},          {2, 0x00007053, 0}, {2, 0x18002573, 0},
      {2, 0xc0102573, 0}, {2, 0xf1451073, 0}, {2, 0x10200073, 0}, {11, 0, 0},
  };
  uint32_t at = 0;
  const auto next = [&] {
    at += 3;
    return Trap{bench.result(at - 3), bench.result(at - 2), bench.result(at - 1)};
  };
  for (const Trap& trap : plain) EXPECT_EQ(next(), trap);
  for (int i = 0; i < 2; ++i) {  // ebreak: mtval is its address
    const Trap trap = next();
    EXPECT_EQ(trap.cause, 3u);
    EXPECT_LT(trap.value, kCodeEnd);
    EXPECT_EQ(trap.distance, 0u);
  }
  const std::vector<Trap> memory = {
      {4, kRegisters + 2, 0}, {6, kRegisters + 2, 0}, {4, kRegisters + 1, 0}, {5, 0x40000004, 0},
      {7, 0x40000008, 0},     {5, kRegisters + 1, 0}, {7, kRegisters + 4, 0}, {5, kRegisters + 0x7fc, 0},
      {7, 0x100, 0},          {5, kCodeEnd, 0},       {4, kData + 0x3ffe, 0}, {5, kDram + 0x40, 0},
      {7, kDram + 0x40, 0},   {6, kData + 0x802, 0},  {4, kData + 0x802, 0},  {5, kDram + 0x7ffffff0u, 0},
  };
  for (const Trap& trap : memory) EXPECT_EQ(next(), trap);
  // Fetches: mepc is where the CPU went, so its distance from the jump is all that the program does not know.
  for (const auto& [value, pc] : std::vector<std::pair<uint32_t, uint32_t>>{{kData, kData},
                                                                            {kRegisters, kRegisters},
                                                                            {kCodeEnd, kCodeEnd - 2},
                                                                            {kCodeEnd, kCodeEnd - 2},
                                                                            {kCodeEnd, kCodeEnd}}) {
    const Trap trap = next();
    EXPECT_EQ(trap.cause, 1u);
    EXPECT_EQ(trap.value, value);
    EXPECT_EQ((pc - trap.distance) % 2, 0u);
    EXPECT_LT(pc - trap.distance, 0x2000u);  // the jump is in the program
  }
  EXPECT_EQ(next(), (Trap{5, kCodeEnd, 0}));
  EXPECT_EQ(bench.result(at), 0x1111u);  // refused loads change nothing
  EXPECT_EQ(bench.result(at + 1), 0x1880u);
}

}  // namespace npu::model::testing
