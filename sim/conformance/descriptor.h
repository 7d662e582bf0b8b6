// SPDX-License-Identifier: Apache-2.0
// The descriptor of a conformance test: desc.json of the official suite, version 1.2 and those before it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace npu::conformance {

struct TestInput {
  std::string name;
  std::filesystem::path file;
};

struct TestOutput {
  std::string name;
  std::filesystem::path golden;
  std::filesystem::path bounds;  // empty when the judgement needs none
  std::string mode;              // of the compliance section: "EXACT", "DOT_PRODUCT", ...; empty without that section
};

struct ConformanceTest {
  std::filesystem::path folder;
  std::filesystem::path network;
  std::vector<TestInput> inputs;
  std::vector<TestOutput> outputs;
  bool expected_failure = false;          // the graph is illegal and has to be refused
  std::string operator_name;              // "CONV2D"; empty when the descriptor does not say
  std::vector<std::string> requirements;  // profiles that it belongs to, then the extensions that it needs
};

// Reads `folder`/desc.json. Names of files are those of plain files in the folder; whether they exist is seen when they
// are read. Throws Error: cannot_read; budget_exceeded above 4 MiB; bad_input for anything else that is wrong.
[[nodiscard]] ConformanceTest read_test(const std::filesystem::path& folder);

}  // namespace npu::conformance
