// SPDX-License-Identifier: Apache-2.0
// TensorFlow Lite and TOSA MLIR to .tosa, by the converter and the serialiser of the Python environment.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "driver/graph/resolve.h"

namespace npu::importer {

struct ImportOptions {
  std::string function;       // of an MLIR file with several functions, the one to take; main when empty
  graph::GivenShapes shapes;  // of inputs, and of MLIR's variables, that the file leaves open
};

// Converts a TensorFlow Lite file, or MLIR (text or bytecode) that is in the TOSA dialect but for leftovers (see
// mlir_cleanup.h), and writes a TOSA 1.0 file: converted, cleaned, serialised, read back and validated under a
// temporary name, then renamed. The kind is told by content. Sizes that MLIR leaves open stay so without `shapes`.
// Returns a line about each thing that the user did not ask for: sizes that the file leaves free, state that is kept.
// Throws Error: kCannotRead, kCannotWrite, kToolMissing (with how to get the tools), kToolFailed (with what the tool
// said), kFileDamaged for what is neither kind or is damaged, kOperatorUnsupported naming operators that have no TOSA
// form, and what cleaning, reading and validating throw.
std::vector<std::string> import_network(const std::filesystem::path& source, const std::filesystem::path& tosa,
                                        const ImportOptions& options);

}  // namespace npu::importer
