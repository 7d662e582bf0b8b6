// SPDX-License-Identifier: Apache-2.0
// What a word behind --input names: an input, and a file or folder.
#pragma once

#include <string>
#include <vector>

#include "sim/workload/network.h"

namespace npu::workload {

struct NamedFile {
  size_t port = 0;
  std::string file;
};

// NAME=FILE.npy, or FILE.npy where there is one input. Names and paths may have '=' in them: the names of the inputs
// decide, and the longest one where several fit. Throws Error(bad_input).
[[nodiscard]] NamedFile split(const std::vector<GraphPort>& ports, const std::string& argument);

// Of the input, in messages: "input 'x'".
[[nodiscard]] std::string label(const GraphPort& port);

// Throws Error(bad_input): the input has no data.
[[noreturn]] void throw_missing(const GraphPort& port);

}  // namespace npu::workload
