// SPDX-License-Identifier: Apache-2.0
// Which function of an MLIR file is the network.
#pragma once

#include <span>
#include <string_view>

#include "sim/importer/mlir_text.h"

namespace npu::importer {

// The function and what stands beside it in its module.
struct MlirEntry {
  const MlirOperation* function;
  std::span<const MlirOperation> module;
};

// The function named `wanted`; without that "main", else the only one. `source` is the file's name, for messages.
// Throws Error: kBadOption naming the functions; kBadStructure when there is none with a body.
[[nodiscard]] MlirEntry choose_function(const MlirFile& file, std::string_view source, std::string_view wanted);

}  // namespace npu::importer
