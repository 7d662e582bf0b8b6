// SPDX-License-Identifier: Apache-2.0
#include "sim/conformance/descriptor.h"

#include <tuple>
#include <vector>

#include "hw/contract/error.h"
#include "tests/unit/conformance/tree.h"

namespace npu::conformance {
namespace {

using contract::ErrorCode;

struct DescriptorTest : Tree {};

TEST_F(DescriptorTest, NamesFilesModesAndRequirements) {
  const std::filesystem::path folder = add("t", descriptor_of("ADD"));
  const ConformanceTest test = read_test(folder);
  EXPECT_EQ(test.network, folder / "net.tosa");
  ASSERT_EQ(test.inputs.size(), 2u);
  EXPECT_EQ(test.inputs[1].name, "b");
  EXPECT_EQ(test.inputs[1].file, folder / "b.npy");
  ASSERT_EQ(test.outputs.size(), 1u);
  EXPECT_EQ(test.outputs[0].golden, folder / "y.npy");
  EXPECT_EQ(test.outputs[0].bounds, folder / "bounds_y.npy");
  EXPECT_EQ(test.outputs[0].mode, "EXACT");
  EXPECT_FALSE(test.expected_failure);
  EXPECT_EQ(test.operator_name, "ADD");
  EXPECT_EQ(test.requirements, (std::vector<std::string>{"tosa-pro-int", "int16"}));
}

TEST_F(DescriptorTest, OfAnIllegalGraphNeedsNoOutputs) {
  const ConformanceTest test =
      read_test(add("t", R"({"tosa_file": "net.tosa", "ifm_name": [], "ifm_file": [], "ofm_name": [], "ofm_file": [],)"
                         R"( "expected_failure": true})"));
  EXPECT_TRUE(test.expected_failure);
  EXPECT_TRUE(test.outputs.empty());
}

// Each with a part of the right descriptor replaced, and what the message says of it.
TEST_F(DescriptorTest, WhatIsWrongIsNamed) {
  const std::tuple<const char*, const char*, const char*> kWrong[] = {
      {R"("tosa_file": "net.tosa")", R"("tosa_file": 1)", "'tosa_file' is not a text"},
      {R"("tosa_file": "net.tosa", )", "", "'tosa_file' is missing"},
      {R"("net.tosa")", R"("../net.tosa")", "is not the name of a file"},
      {R"(["a", "b"])", R"(["a"])", "'ifm_name' has 1 entries and 'ifm_file' 2"},
      {R"(["a", "b"])", R"(["a", "a"])", "'ifm_name' lists 'a' twice"},
      {R"(["a.npy", "b.npy"])", R"(["a.npy", "b,c.npy"])", "is not the name of a file"},
      {R"("y": {"mode")", R"("z": {"mode")", "does not describe output 'y'"},
      {R"("mode": "EXACT")", R"("mode": "EXACT", "scale_tensor_name": "s")", "block-scaled"},
      {R"(["y"])", R"([])", "'ofm_name' has 0 entries"},
  };
  for (const auto& [part, replacement, message] : kWrong) {
    std::string text = descriptor_of("ADD");
    const size_t at = text.find(part);
    ASSERT_NE(at, std::string::npos) << part;
    text.replace(at, std::string(part).size(), replacement);
    try {
      static_cast<void>(read_test(add("t", text)));
      ADD_FAILURE() << replacement;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kBadInput);
      EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace npu::conformance
