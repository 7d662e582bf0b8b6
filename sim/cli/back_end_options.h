// SPDX-License-Identifier: Apache-2.0
// Which engines of a run are on RTL, and whether the persistent SRAM is: the options, and what comes of them.
#pragma once

#include <boost/program_options.hpp>
#include <string>
#include <vector>

#include "driver/compiler/program.h"
#include "sim/cosim/back_ends.h"
#include "sim/platform/platform.h"
#include "sim/report/report.h"

namespace npu::cli {

struct BackEndOptions {
  struct Choice {
    cosim::Unit unit = cosim::Unit::kMxu;
    bool chosen = false;
    std::vector<std::string> layers;  // names or numbers; empty: all
  };
  std::array<Choice, cosim::kUnits> choices{};  // by unit
  // Whether the persistent SRAM is; kIfBuilt: when there is RTL of its sizes.
  enum class Persistent : uint8_t { kNo, kIfBuilt, kYes } persistent = Persistent::kNo;
  bool lockstep = false;
  std::string bundle;  // folder for the replay bundle; empty: one is chosen
};

void add_back_end_options(boost::program_options::options_description& options);
// Throws Error(kBadOption) for an engine that there is not, and a bundle's folder that exists or cannot be made.
[[nodiscard]] BackEndOptions back_end_options(const boost::program_options::variables_map& values);

// Throws what cosim::make_rtl_engine and make_rtl_persistent_sram throw. `caps` are the machine's.
void choose_back_ends(const BackEndOptions& options, const contract::Capabilities& caps, cosim::BackEnds& back_ends);
// The device gets what they make; they outlive it.
void connect_back_ends(cosim::BackEnds& back_ends, platform::PlatformOptions& machine);
// Throws Error(kBadOption) for a layer that the program does not have.
void choose_layers(const BackEndOptions& options, const compiler::Program& program, cosim::BackEnds& back_ends);
[[nodiscard]] std::vector<report::EngineRun> engine_runs(const BackEndOptions& options,
                                                         const cosim::BackEnds& back_ends);
[[nodiscard]] report::PersistentRun persistent_run(const cosim::BackEnds& back_ends);

// Names the layer, writes the bundle where there is something to replay, and says how.
[[noreturn]] void throw_failure(const cosim::Failure& failure, cosim::Bundle bundle, const compiler::Program& program,
                                const BackEndOptions& options);

}  // namespace npu::cli
