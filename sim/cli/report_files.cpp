#include "sim/cli/report_files.h"

#include <fmt/format.h>

#include <filesystem>

#include "driver/graph/text.h"
#include "hw/contract/error.h"
#include "sim/cli/data.h"

namespace npu::cli {

namespace fs = std::filesystem;

void check_report_files(const std::vector<std::pair<std::string_view, std::string>>& files) {
  std::vector<std::pair<std::string_view, fs::path>> taken;
  for (const auto& [option, file] : files) {
    if (file.empty()) continue;
    check_file_writable(file);
    std::error_code ignored;
    const fs::path place = fs::weakly_canonical(fs::absolute(file), ignored);
    for (const auto& [other, other_place] : taken) {
      if (place != other_place) continue;
      throw Error(contract::ErrorCode::kBadOption, fmt::format("{} and {} are the same file, {}; choose another", other,
                                                               option, graph::in_quotes(file)));
    }
    taken.emplace_back(option, place);
  }
}

}  // namespace npu::cli
