// SPDX-License-Identifier: Apache-2.0
// Running other programs: no shell, bounded output, and a clear error when one is missing or fails.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace npu::tool {

struct ProcessResult {
  int status = 0;      // exit status, or 128 + signal
  std::string output;  // standard output and error together, at most 1 MiB
};

// Runs arguments[0] (a path) in `folder` and waits. `path_prefix` is put in front of the child's PATH. Throws
// Error(kToolMissing) when it cannot be started. A signal that stops this program (stop.h) goes to the child and those
// that it started, and is thrown as Stopped once they are gone.
[[nodiscard]] ProcessResult run_process(const std::vector<std::string>& arguments, const std::filesystem::path& folder,
                                        const std::filesystem::path& path_prefix);

// The sentence in the last line "npu: error: SENTENCE [code]" of what a process wrote, or what else that line says.
[[nodiscard]] std::string last_error(const std::string& output);

// The folder that holds all of the named programs: NPU_PYTHON_TOOLS, else build/venv/bin beside this build, else a
// folder of PATH; nullopt when none does.
[[nodiscard]] std::optional<std::filesystem::path> find_tools(const std::vector<std::string>& programs);

}  // namespace npu::tool
