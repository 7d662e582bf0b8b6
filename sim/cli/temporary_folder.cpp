// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/temporary_folder.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "hw/contract/error.h"

namespace npu::cli {

namespace fs = std::filesystem;

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (fs::temp_directory_path() / "npu-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) {
    throw Error(contract::ErrorCode::kCannotWrite,
                fmt::format("cannot make a folder like '{}': {}", pattern, std::strerror(errno)));
  }
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace npu::cli
