// SPDX-License-Identifier: Apache-2.0
#include "sim/tool/file_places.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "driver/graph/file.h"
#include "driver/graph/text.h"
#include "hw/contract/error.h"
#include "hw/presets/preset.h"

namespace npu::tool {

namespace fs = std::filesystem;

void FilePlaces::read(std::string_view what, const fs::path& file) {
  if (!file.empty()) add({std::string(what), false}, file, {});
}

void FilePlaces::read_machine(const std::string& name_or_path) {
  const std::vector<std::string> names = presets::preset_names();
  if (std::find(names.begin(), names.end(), name_or_path) == names.end()) read("the machine's file", name_or_path);
}

void FilePlaces::write(std::string_view what, const fs::path& file, std::string_view replaced) {
  if (!file.empty()) add({std::string(what), true}, file, replaced);
}

void FilePlaces::add(File file, const fs::path& given, std::string_view replaced) {
  const fs::path place = graph::place_of(given);
  const auto [begin, end] = files_.equal_range(place);
  for (auto at = begin; at != end; ++at) {
    const File& other = at->second;
    if (!(other.written || file.written)) continue;
    if (!other.written && other.what == replaced) continue;
    throw Error(contract::ErrorCode::kBadOption, fmt::format("{} and {} are the same file, {}; choose another",
                                                             other.what, file.what, graph::in_quotes(given.string())));
  }
  files_.emplace(place, std::move(file));
}

void read_input(FilePlaces& places, std::string_view what, const std::string& input) {
  places.read(what, input);
  for (size_t at = input.find('='); at != std::string::npos; at = input.find('=', at + 1)) {
    places.read(what, input.substr(at + 1));
  }
}

}  // namespace npu::tool
