// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/rtl_on_demand.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "hw/contract/error.h"
#include "sim/cli/process.h"
#include "sim/cosim/rtl_engine.h"

namespace npu::cli {
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

}  // namespace

void provide_rtl() {
  if (cosim::has_rtl()) return;
  std::error_code ignored;
  const fs::path folder = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  const std::string cmake = cached(folder, "CMAKE_COMMAND");
  if (cmake.empty() || cached(folder, "NPU_WITH_RTL") != "ON") return;
  fmt::print(stderr, "npu: building the RTL with Verilator, once; this takes a minute or two\n");
  const ProcessResult built =
      run_process({cmake, "--build", folder.string(), "--target", "npu_rtl_module"}, folder, "");
  if (built.status == 0 && cosim::has_rtl()) return;
  const size_t kept = std::min<size_t>(built.output.size(), 2000);
  throw Error(
      ErrorCode::kFeatureUnsupported,
      fmt::format("the RTL could not be built; '{} --build {} --target npu_rtl_module' ended with status {}:\n{}",
                  cmake, folder.string(), built.status, built.output.substr(built.output.size() - kept)));
}

}  // namespace npu::cli
