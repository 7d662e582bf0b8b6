// SPDX-License-Identifier: Apache-2.0
// Modules that would need far too much are refused before they cost memory.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <string>
#include <utility>

#include "driver/compiler/schedule.h"
#include "hw/contract/error.h"
#include "tests/unit/compiler/back_modules.h"

namespace npu::compiler::testing {
namespace {

constexpr int64_t kMib = 1 << 20;
// What the address sanitizer keeps of freed memory counts as used.
#ifdef __SANITIZE_ADDRESS__
constexpr int64_t kSanitizer = 512 * kMib;
#else
constexpr int64_t kSanitizer = 0;
#endif

int64_t peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return int64_t{usage.ru_maxrss} * 1024;
}

// The message of the dram_full error that scheduling ends with, and how much memory it took to find out.
std::pair<std::string, int64_t> refusal(Module&& module, const contract::Capabilities& capabilities) {
  const int64_t before = peak_memory();
  try {
    static_cast<void>(schedule(std::move(module), capabilities));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), contract::ErrorCode::kDramFull) << error.what();
    return {error.what(), peak_memory() - before};
  }
  ADD_FAILURE() << "not refused";
  return {};
}

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(BackBounds, ManyHugeTensorsAreRefusedBeforeAnyCommandIsMade) {
  for (const bool nano : {false, true}) {
    ModuleBuilder builder(1);
    const std::vector<int64_t> dims = {1, 46000, 46000, 1};  // a little less than 2 GiB
    const View start = builder.tensor(dims, contract::Element::kI8);
    builder.fill(start, 1);
    View at = start;
    for (int i = 0; i < 40; ++i) {
      const View next = builder.tensor(dims, contract::Element::kI8, i == 39);
      builder.add(at, start, next);
      at = next;
    }
    const auto [text, memory] = refusal(std::move(builder.module), nano ? nano_capabilities() : edge_capabilities());
    expect_contains(text, "bytes of DRAM");
    EXPECT_LT(memory, 64 * kMib + kSanitizer);
  }
}

TEST(BackBounds, MoreCommandsThanAProgramMayHaveAreRefused) {
  // A transpose of rank 7 that no DMA command can walk: one command for each position outside.
  ModuleBuilder builder(1);
  const View from = builder.input({3, 3, 3, 3, 3, 3, 500000}), to = builder.tensor(from.dims, from.type, true);
  View turned = from;
  std::reverse(turned.dims.begin(), turned.dims.end());
  std::reverse(turned.strides.begin(), turned.strides.end());
  View into = to;
  into.dims = turned.dims;
  int64_t stride = 1;
  for (size_t d = into.dims.size(); d-- > 0;) {
    into.strides[d] = stride;
    stride *= into.dims[d];
  }
  builder.copy(turned, into);
  const auto [text, memory] = refusal(std::move(builder.module), edge_capabilities());
  expect_contains(text, "1048576 commands");
  EXPECT_LT(memory, 400 * kMib + kSanitizer);
}

}  // namespace
}  // namespace npu::compiler::testing
