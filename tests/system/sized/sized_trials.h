// SPDX-License-Identifier: Apache-2.0
// Random graphs with open sizes, compiled for random bounds and run at random sizes on the device, against the
// reference.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "driver/compiler/bounds.h"
#include "driver/runtime/runtime.h"
#include "hw/presets/preset.h"
#include "sim/reference/reference.h"
#include "tests/system/sized/random_open.h"

namespace npu::test {

struct Counts {
  uint32_t compiled = 0, static_refused = 0, without_sizes = 0;
  uint64_t programs = 0, most_programs = 0, rules = 0, words = 0, sizes = 0, refused_sizes = 0, interruptions = 0;
  uint64_t saved_bytes = 0;
  int64_t compared = 0;
  std::map<std::string, uint32_t> refused;  // by reason

  [[nodiscard]] uint32_t refusals() const {
    return std::accumulate(refused.begin(), refused.end(), 0U,
                           [](uint32_t sum, const auto& reason) { return sum + reason.second; });
  }
};
std::ostream& operator<<(std::ostream& out, const Counts& counts);

class Trials {
 public:
  enum class Interrupt : bool { kNo, kYes };
  // With kYes other jobs interrupt each one.
  explicit Trials(const presets::Preset& machine, const Graphs& graphs, Interrupt interrupt = Interrupt::kNo);

  // Expects no difference, and says what it did. With NPU_SIZED_VERBOSE also which graphs are refused, or need several
  // programs.
  void run(uint32_t first_seed, uint32_t count);

  Counts counts;

 private:
  [[nodiscard]] compiler::Options random_options(cosim::Random& random) const;
  // Whether a compiler for known sizes takes the graph.
  [[nodiscard]] bool compiles_at_one_size(const OpenGraph& open, const compiler::Options& options) const;
  void try_graph(uint32_t seed);
  // The state goes on from one size to the next.
  void run_at_random_sizes(const OpenGraph& open, const std::vector<compiler::Program>& programs,
                           const compiler::Options& options, cosim::Random& random);
  void run_at(const graph::Graph& sized, const compiler::Program& fixed, runtime::Context& context,
              reference::Context& state);
  // With a job that comes where the one before had waited for so long, and was `cycles` long. 0: none comes.
  [[nodiscard]] runtime::RunResult run_interrupted(runtime::Job& job, uint64_t wait, uint64_t cycles);

  runtime::Device device_;
  Graphs graphs_;
  const bool interrupt_;
  const graph::Graph quick_;  // of the jobs that interrupt
  std::mt19937 data_{7};
};

}  // namespace npu::test
