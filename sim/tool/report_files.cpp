// SPDX-License-Identifier: Apache-2.0
#include "sim/tool/report_files.h"

#include "sim/tool/staged_files.h"

namespace npu::tool {

void check_report_files(const std::vector<std::pair<std::string_view, std::string>>& files, FilePlaces read) {
  for (const auto& [option, file] : files) {
    if (file.empty()) continue;
    check_file_writable(file);
    read.write(option, file);
  }
}

}  // namespace npu::tool
