// SPDX-License-Identifier: Apache-2.0
#include "sim/tool/name_filter.h"

#include <gtest/gtest.h>

#include <string>

#include "hw/contract/error.h"

namespace npu::tool {
namespace {

TEST(NameFilter, SearchesLongNamesWithoutTheStack) {
  const std::string name(4000, 'a');
  EXPECT_TRUE(NameFilter("--only", "a*b|a$").matches(name));
  EXPECT_FALSE(NameFilter("--only", "a*b|x").matches(name));
  EXPECT_TRUE(NameFilter("--only", "").matches(""));
  EXPECT_THROW(NameFilter("--only", "("), Error);
  EXPECT_THROW(NameFilter("--only", std::string(1001, 'a')), Error);
}

}  // namespace
}  // namespace npu::tool
