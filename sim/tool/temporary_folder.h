// SPDX-License-Identifier: Apache-2.0
// A folder below the system's temporary one that is gone with its object, however the command ends; commands that have
// one are stoppable (stop.h), for a signal destroys no objects.
#pragma once

#include <filesystem>

namespace npu::tool {

class TemporaryFolder {
 public:
  // Throws Error(kCannotWrite) when it cannot be made.
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace npu::tool
