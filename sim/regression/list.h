// SPDX-License-Identifier: Apache-2.0
// The list of a regression: what `npu cosim` compares. docs/reference/cosim.md defines the keys.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sim/cosim/trial.h"

namespace npu::regression {

struct List {
  struct Network {
    std::string path;  // of the file, from a folder in which networks are looked for, without its .tosa
    std::string name;  // the end of it
    int64_t frames = 1;
    bool optional = false;
  };
  struct Operators {
    uint32_t of_each = 1;           // random instances of an operator with each combination of types
    std::vector<std::string> only;  // empty: all that the machine runs
  };
  struct TrialSet {
    cosim::Block block = cosim::Block::kMxu;
    uint64_t count = 0, batch = 0;
    bool ideal = true, held_back = true;
  };

  std::filesystem::path file;
  std::vector<std::string> presets;
  std::vector<uint64_t> seeds;
  std::vector<Network> networks;
  std::optional<Operators> operators;
  std::vector<TrialSet> trials;
};

inline constexpr uint64_t kMostSeed = UINT32_MAX;
inline constexpr uint64_t kMostCases = 1'000'000;  // that a list makes

// Throws Error: cannot_read; bad_input that names file, line and key for anything that is wrong with the list.
[[nodiscard]] List read_list(const std::filesystem::path& file);

}  // namespace npu::regression
