// SPDX-License-Identifier: Apache-2.0
#include "sim/tool/temporary_folder.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>

#include "hw/contract/error.h"

namespace npu::tool {

namespace fs = std::filesystem;

TemporaryFolder::TemporaryFolder() {
  std::error_code problem;
  const fs::path parent = fs::temp_directory_path(problem);
  if (problem) {
    const char* given = std::getenv("TMPDIR");
    throw Error(
        contract::ErrorCode::kCannotWrite,
        fmt::format("there is no folder '{}' for temporary files: {}; set TMPDIR to a folder that can be written",
                    given != nullptr ? given : "/tmp", problem.message()));
  }
  std::string pattern = (parent / "npu-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) {
    throw Error(contract::ErrorCode::kCannotWrite,
                fmt::format("cannot make a folder like '{}': {}; set TMPDIR to a folder that can be written", pattern,
                            std::strerror(errno)));
  }
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace npu::tool
