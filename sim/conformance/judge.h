// SPDX-License-Identifier: Apache-2.0
// One conformance test: run, and judged as its descriptor says.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "driver/graph/value.h"
#include "sim/conformance/descriptor.h"
#include "sim/tool/temporary_folder.h"
#include "sim/workload/network.h"

namespace npu::conformance {

enum class Outcome {
  kPassed,
  kFailed,
  kUnsupported,  // what runs the test lacks an operator, a type, a feature or the DRAM that the network needs
  kBroken,       // the test itself cannot be judged: descriptor, data, goldens or checker
};

struct Verdict {
  Outcome outcome = Outcome::kPassed;
  std::string reason;  // one sentence; empty for kPassed
  // The types with which a legal network uses the test's operator (graph::describe_row); empty where they do not
  // matter.
  std::string types = {};
};

// Arm's program `tosa_verify`, which judges what need not be exact. Several threads may use it.
class OfficialChecker {
 public:
  // Looks for the program in the tools' environment. Throws Error(cannot_write) when there is no temporary folder.
  OfficialChecker();

  // A name for a file that no other call gets; it goes when the checker does.
  [[nodiscard]] std::filesystem::path new_file();
  // Judges `result`, an .npy file, as one output of the test; kBroken when the program is missing or cannot judge.
  [[nodiscard]] Verdict judge(const ConformanceTest& test, const TestOutput& output,
                              const std::filesystem::path& result) const;

 private:
  std::filesystem::path program_, tools_;
  tool::TemporaryFolder folder_;
  std::atomic<uint64_t> next_{0};
};

// Runs a network on inputs, one an input of it, with variables cleared; gives a value an output. For several threads at
// once. Throws Error where it refuses.
using Run = std::function<std::vector<graph::Value>(const workload::Network&, const std::vector<graph::Value>&)>;

// On the software reference.
[[nodiscard]] Run reference_runner();

// Runs and judges; what goes wrong is part of the verdict. Integers and truth values that have
// to be exact are compared here, everything else is left to the checker.
[[nodiscard]] Verdict judge(const ConformanceTest& test, const Run& run, OfficialChecker& checker);

}  // namespace npu::conformance
