// SPDX-License-Identifier: Apache-2.0
// Which machine is large enough.
#include <gtest/gtest.h>

#include "driver/compiler/dram_needs.h"
#include "hw/contract/advice.h"

namespace npu {
namespace {

using contract::smallest_machine;

constexpr uint64_t kMebibyte = uint64_t{1} << 20;

TEST(SmallestMachine, NamesValuesThatAMachinesFileTakes) {
  EXPECT_EQ(smallest_machine({{"psram_bytes", 2049}}, "it"), "psram_bytes: 4096 is the smallest machine that holds it");
  EXPECT_EQ(smallest_machine({{"dram_mib", 5}}, "it"), "dram_mib: 5 is the smallest machine that holds it");
  EXPECT_EQ(smallest_machine({{"var_entries", 1}, {"psram_bytes", 1}}, "both"),
            "var_entries: 4 and psram_bytes: 1024 is the smallest machine that holds both");
}

TEST(SmallestMachine, SaysWhenThereIsNone) {
  const uint64_t most = contract::find_capability("spm_bytes").max;
  EXPECT_EQ(smallest_machine({{"spm_bytes", most}}, "it"),
            "spm_bytes: 268435456 is the smallest machine that holds it");
  EXPECT_EQ(smallest_machine({{"dram_mib", 1}, {"spm_bytes", most + 1}}, "it"),
            "no machine holds it: that takes 268435457 of spm_bytes, which is at most 268435456");
}

TEST(LeastDram, CountsPagesAndWhatFirmwareShares) {
  compiler::DramNeeds needs;
  needs.workspace = 3 * kMebibyte - 5 * compiler::kDramPage;  // the five other pieces have a page each
  EXPECT_EQ(needs.total(), 3 * kMebibyte);
  EXPECT_EQ(compiler::least_dram_mib(needs, false), 3u);
  EXPECT_EQ(compiler::least_dram_mib(needs, true), 4u);
  needs.segments = kMebibyte;  // only firmware needs them
  EXPECT_EQ(compiler::least_dram_mib(needs, false), 3u);
  EXPECT_EQ(compiler::least_dram_mib(needs, true), 5u);
}

// The memory that firmware shares ends at 2 GiB, so that no piece lies across that place.
TEST(LeastDram, KeepsLargePiecesOnOneSideOfWhatTheCpuSees) {
  compiler::DramNeeds needs;
  needs.input = 1536 * kMebibyte;
  needs.output = 1536 * kMebibyte;
  EXPECT_EQ(compiler::least_dram_mib(needs, false), 3073u);
  EXPECT_EQ(compiler::least_dram_mib(needs, true), 2048u + 1536u);
  EXPECT_FALSE(compiler::fits_into(needs, 3583 * kMebibyte, true));
  needs.segments = 600 * kMebibyte;  // has to lie below, beside one of them no more
  EXPECT_EQ(compiler::least_dram_mib(needs, true), 2048u + 3072u);
}

}  // namespace
}  // namespace npu
