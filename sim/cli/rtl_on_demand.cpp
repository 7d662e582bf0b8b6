// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/rtl_on_demand.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>

#include "hw/contract/error.h"
#include "sim/cosim/rtl_engine.h"
#include "sim/tool/process.h"
#include "sim/tool/say.h"

namespace npu::cli {

using tool::say_error;

namespace {

namespace fs = std::filesystem;
using contract::ErrorCode;

// The value that CMake's cache in `folder` has for a key; empty: none.
std::string cached(const fs::path& folder, const std::string& key) {
  std::ifstream cache(folder / "CMakeCache.txt");
  for (std::string line; std::getline(cache, line);) {
    if (!line.starts_with(key + ":")) continue;
    const size_t equals = line.find('=');
    return equals == std::string::npos ? "" : line.substr(equals + 1);
  }
  return "";
}

// Whether there is RTL that fits this program. Throws what is wrong with a module where it cannot be built anew.
bool has_fitting_rtl(bool can_build) {
  try {
    return cosim::has_rtl();
  } catch (const Error&) {
    if (!can_build) throw;
    return false;
  }
}

// One process at a time builds in a folder: the build's own tool does not see to that. The build inherits the lock,
// since it goes on when a signal ends this process.
class BuildLock {
 public:
  explicit BuildLock(const fs::path& folder) : file_(open((folder / ".npu-rtl.lock").c_str(), O_RDWR | O_CREAT, 0666)) {
    if (file_ < 0 || flock(file_, LOCK_EX | LOCK_NB) == 0) return;
    say_error("npu: waiting for another process that builds the RTL\n");
    while (flock(file_, LOCK_EX) != 0 && errno == EINTR) {
    }
  }
  ~BuildLock() {
    if (file_ >= 0) close(file_);
  }
  BuildLock(const BuildLock&) = delete;
  BuildLock& operator=(const BuildLock&) = delete;

 private:
  int file_;
};

}  // namespace

void provide_rtl() {
  std::error_code ignored;
  const fs::path folder = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  const std::string cmake = cached(folder, "CMAKE_COMMAND");
  const bool can_build = !cmake.empty() && cached(folder, "NPU_WITH_RTL") == "ON";
  if (has_fitting_rtl(can_build) || !can_build) return;
  const BuildLock lock(folder);
  if (has_fitting_rtl(can_build)) return;
  say_error("npu: building the RTL with Verilator, once; this takes a minute or two\n");
  const tool::ProcessResult built =
      tool::run_process({cmake, "--build", folder.string(), "--target", "npu_rtl_module"}, folder, "");
  if (built.status == 0 && cosim::has_rtl()) return;
  const size_t kept = std::min<size_t>(built.output.size(), 2000);
  say_error("{}\n", built.output.substr(built.output.size() - kept));
  throw Error(
      ErrorCode::kFeatureUnsupported,
      fmt::format("the RTL could not be built: '{} --build {} --target npu_rtl_module' ended with status {}, and "
                  "said what stands above",
                  cmake, folder.string(), built.status));
}

}  // namespace npu::cli
