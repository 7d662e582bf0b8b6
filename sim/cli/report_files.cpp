// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/report_files.h"

#include "sim/cli/data.h"
#include "sim/cli/file_places.h"

namespace npu::cli {

void check_report_files(const std::vector<std::pair<std::string_view, std::string>>& files) {
  FilePlaces places;
  for (const auto& [option, file] : files) {
    if (file.empty()) continue;
    check_file_writable(file);
    places.write(option, file);
  }
}

}  // namespace npu::cli
