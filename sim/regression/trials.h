// SPDX-License-Identifier: Apache-2.0
// Random trials of a block, a batch at a time.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "sim/cosim/trial.h"
#include "sim/regression/result.h"

namespace npu::regression {

// The blocks of one thread, made when they are first needed.
class TrialBlocks {
 public:
  // Throws Error as cosim::make_trials does.
  [[nodiscard]] cosim::Trials& of(cosim::Block block, const std::string& preset);

 private:
  std::map<std::pair<cosim::Block, std::string>, std::unique_ptr<cosim::Trials>> blocks_;
};

// Runs the trials of a case; `bundle` is the folder for the replay bundle of the first engine's tile that differs.
// Throws Error: what cosim::make_trials throws, cannot_write; Stopped.
[[nodiscard]] Result run_trials(const Case& one, TrialBlocks& blocks, const std::filesystem::path& bundle);

}  // namespace npu::regression
