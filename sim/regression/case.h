// SPDX-License-Identifier: Apache-2.0
// The cases of a regression: what the list means, one by one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "driver/graph/graph.h"
#include "sim/cosim/trial.h"
#include "sim/regression/list.h"

namespace npu::regression {

struct NetworkCase {
  std::string network;         // its name
  std::filesystem::path file;  // empty: an optional network that is not here
  int64_t frames = 1;
};
struct OperatorCase {
  graph::Op op = graph::Op::kUnknown;
  uint32_t of_each = 1;
};
struct TrialCase {
  cosim::Block block = cosim::Block::kMxu;
  bool held_back = false;
  uint64_t first = 0, count = 0;  // numbers of the trials
};

struct Case {
  std::string name;  // "network/okay_nabu/nano/1", "operator/CONV2D/edge/1", "trials/mxu/nano/ideal/1/0-249"
  std::string preset;
  uint64_t seed = 0;
  std::variant<NetworkCase, OperatorCase, TrialCase> work;
};

// Which of the list's cases are asked for.
struct Selection {
  std::string preset;             // empty: all of the list
  std::optional<uint64_t> seed;   // in place of those of the list
  std::string only;               // a regular expression that a name must match somewhere
  std::optional<uint64_t> trial;  // this trial of the cases that match, alone
  size_t shard = 1, shards = 1;
  std::vector<std::filesystem::path> folders;  // where networks are looked for first
};

// In an order that depends on the list alone; every shard takes each n-th. Throws Error: bad_option for a selection
// that makes no sense or leaves nothing; for cases that are kept, bad_preset, bad_input for an operator that the
// machine does not run, cannot_read for a network that is nowhere and not optional.
[[nodiscard]] std::vector<Case> cases_of(const List& list, const Selection& selection);

// The seed of a trial: what it is a function of. Trials of other seeds of the list have other ones.
[[nodiscard]] constexpr uint64_t trial_seed(uint64_t seed, uint64_t number) { return seed << 32 | number; }

}  // namespace npu::regression
