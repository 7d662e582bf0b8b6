// SPDX-License-Identifier: Apache-2.0
// One conformance test: run on the software reference, judged as its descriptor says.
#pragma once

#include <atomic>
#include <filesystem>
#include <string>

#include "sim/conformance/descriptor.h"
#include "sim/tool/temporary_folder.h"

namespace npu::conformance {

enum class Outcome {
  kPassed,
  kFailed,
  kUnsupported,  // the reference lacks an operator, a type or a feature
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

// Runs and judges with variables cleared; what goes wrong is part of the verdict. Integers and truth values that have
// to be exact are compared here, everything else is left to the checker.
[[nodiscard]] Verdict judge(const ConformanceTest& test, OfficialChecker& checker);

}  // namespace npu::conformance
