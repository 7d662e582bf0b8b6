// SPDX-License-Identifier: Apache-2.0
// What the cases of a regression gave.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/cosim/cycle_comparison.h"
#include "sim/regression/case.h"

namespace npu::regression {

struct TrialNumbers {
  uint64_t trials = 0, failed = 0;
  uint64_t compared = 0, differing = 0;
  uint64_t port_differences = 0;  // trials in which the requests for memory came in another cycle
  cosim::CycleComparison cycles;  // formula or schedule
  cosim::CycleComparison device;  // what the device says under the same grants, where it does
  std::map<std::string, uint64_t> kinds;

  void add(const TrialNumbers& other);
};

// A network on the device.
struct DeviceNumbers {
  uint64_t invocations = 0;
  uint64_t compared = 0, differing = 0;              // elements of outputs, with the reference
  uint64_t tiles = 0, exact = 0;                     // in lockstep, and those of them with equal cycles
  uint64_t same_requests = 0;                        // tiles whose RTL asks for memory in the cycles of the schedule
  uint64_t elements = 0;                             // compared in lockstep; none differs unless the case failed
  std::optional<uint64_t> model_cycles, rtl_cycles;  // of the device, all invocations: model alone, all RTL

  void add(const DeviceNumbers& other);  // cycles only where both have them
};

// Why the cycles of a network fail its case, in one sentence; empty: they do not. All of `numbers` were measured.
[[nodiscard]] std::string wrong_cycles(const DeviceNumbers& numbers);

enum class Outcome {
  kPassed,
  kFailed,   // something differs, cycles are not exact, or memory is asked in other cycles
  kBroken,   // could not be run to its end
  kNotRun,   // no time was left
  kMissing,  // an optional network that is not here
};
[[nodiscard]] const char* name(Outcome outcome);

struct Result {
  Outcome outcome = Outcome::kNotRun;
  std::string reason;  // one sentence; empty for kPassed
  std::string bundle;  // folder of the replay bundle; empty: none
  DeviceNumbers device;
  TrialNumbers trials;
};

// What the work gives; broken, with the reason, where it throws. Throws Stopped alone.
[[nodiscard]] Result result_of(const std::function<Result()>& work);

struct RegressionRun {
  std::string list;  // the file
  std::string
      selection;  // the options that choose cases, as a shell takes them, each behind a space; empty: all of them
  std::vector<Case> cases;
  std::vector<Result> results;  // of the cases, in their order
};

[[nodiscard]] uint64_t count(const RegressionRun& run, Outcome outcome);
// Nothing failed or is broken.
[[nodiscard]] bool all_good(const RegressionRun& run);

// Trials of one block of one machine, of all seeds.
struct BlockNumbers {
  cosim::Block block = cosim::Block::kMxu;
  std::string preset;
  std::vector<uint64_t> seeds;
  TrialNumbers ideal, held_back;
};
// In the order of blocks and presets; those without trials are left out.
[[nodiscard]] std::vector<BlockNumbers> by_block(const RegressionRun& run);

}  // namespace npu::regression
