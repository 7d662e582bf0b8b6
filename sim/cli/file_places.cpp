#include "sim/cli/file_places.h"

#include <fmt/format.h>

#include <system_error>

#include "driver/graph/text.h"
#include "hw/contract/error.h"

namespace npu::cli {

namespace fs = std::filesystem;

fs::path place_of(const fs::path& file) {
  constexpr int kMostLinks = 40;  // as Linux follows
  std::error_code failure;
  fs::path place = fs::absolute(file, failure);
  // By hand, since weakly_canonical() leaves a link as it is that leads to what is not there yet.
  for (int i = 0; i < kMostLinks && fs::is_symlink(fs::symlink_status(place, failure)); ++i) {
    const fs::path target = fs::read_symlink(place, failure);
    if (failure) break;
    place = place.parent_path() / target;  // an absolute target replaces all
  }
  fs::path canonical = fs::weakly_canonical(place, failure);
  return failure ? place.lexically_normal() : canonical;
}

void FilePlaces::read(std::string_view what, const fs::path& file) {
  if (!file.empty()) add({std::string(what), place_of(file), false}, file, {});
}

void FilePlaces::write(std::string_view what, const fs::path& file, std::string_view replaced) {
  if (!file.empty()) add({std::string(what), place_of(file), true}, file, replaced);
}

void FilePlaces::add(File file, const fs::path& given, std::string_view replaced) {
  for (const File& other : files_) {
    if (other.place != file.place || !(other.written || file.written)) continue;
    if (!other.written && other.what == replaced) continue;
    throw Error(contract::ErrorCode::kBadOption, fmt::format("{} and {} are the same file, {}; choose another",
                                                             other.what, file.what, graph::in_quotes(given.string())));
  }
  files_.push_back(std::move(file));
}

}  // namespace npu::cli
