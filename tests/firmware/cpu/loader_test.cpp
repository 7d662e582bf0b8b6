// SPDX-License-Identifier: Apache-2.0
// Opening the module with the simulator.
#include <gtest/gtest.h>

#include <array>

#include "hw/contract/error.h"
#include "sim/platform/iss_loader.h"

namespace npu::platform {
namespace {

std::string refusal(const std::string& path) {
  try {
    static_cast<void>(load_iss(path));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), contract::ErrorCode::kCannotRead);
    return error.what();
  }
  return "";
}

TEST(IssLoader, NamesWhatIsMissing) {
  EXPECT_NE(refusal("/nowhere/libnpu_iss.so").find("/nowhere/libnpu_iss.so"), std::string::npos);
  EXPECT_NE(refusal("libm.so.6").find("npu_iss_version"), std::string::npos);
}

TEST(IssLoader, RefusesMemoriesThatCannotBe) {
  alignas(4096) static std::array<uint8_t, 8192> bytes;
  const auto iss = load_iss("");
  EXPECT_THROW(iss({nullptr, 0, 0x1001, {bytes.data(), 4096}, {bytes.data() + 4096, 4096}}), Error);
}

}  // namespace
}  // namespace npu::platform
