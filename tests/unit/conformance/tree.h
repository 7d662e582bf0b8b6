// SPDX-License-Identifier: Apache-2.0
// A tree of descriptors for one test case.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace npu::conformance {

struct Tree : testing::Test {
  Tree() { std::filesystem::create_directories(root); }
  ~Tree() override { std::filesystem::remove_all(root); }

  // Writes `test`/desc.json; returns the folder.
  [[nodiscard]] std::filesystem::path add(const std::string& test, const std::string& descriptor) const {
    std::filesystem::create_directories(root / test);
    std::ofstream(root / test / "desc.json") << descriptor;
    return root / test;
  }

  const std::filesystem::path root =
      std::filesystem::path(testing::TempDir()) / ("npu_conformance_" + std::to_string(::getpid()));
};

// A descriptor that is right; the operator may be another one.
inline std::string descriptor_of(const std::string& name) {
  return R"({"tosa_file": "net.tosa", "ifm_name": ["a", "b"], "ifm_file": ["a.npy", "b.npy"], "ofm_name": ["y"],)"
         R"( "ofm_file": ["y.npy"], "expected_failure": false, "test_details": {"operator": ")" +
         name +
         R"("}, "test_requirements": {"profiles_supported": ["tosa-pro-int"], "extensions_required": ["int16"],)"
         R"( "bounds_file_required": true}, "meta": {"compliance": {"tensors": {"y": {"mode": "EXACT"}}}}})";
}

}  // namespace npu::conformance
