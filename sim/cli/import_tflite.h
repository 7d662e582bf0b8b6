// TensorFlow Lite to TOSA, by the converter and the serialiser of the Python environment.
#pragma once

#include <filesystem>

namespace npu::cli {

// Converts a .tflite file and writes a TOSA 1.0 file: converted, cleaned, serialised, read back and validated under a
// temporary name, then renamed. Throws Error: kCannotRead, kCannotWrite, kToolMissing (with how to get the tools),
// kToolFailed (with what the tool said), kOperatorUnsupported naming operators that have no TOSA form, and what reading
// and validating throw.
void import_tflite(const std::filesystem::path& tflite, const std::filesystem::path& tosa);

}  // namespace npu::cli
