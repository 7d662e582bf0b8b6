// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/staged_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include "driver/graph/text.h"
#include "hw/contract/error.h"
#include "sim/cli/say.h"

namespace npu::cli {

namespace fs = std::filesystem;
using contract::ErrorCode;
using graph::in_quotes;

StagedFiles::~StagedFiles() {
  files_.clear();
  std::error_code ignored;
  for (auto folder = folders_.rbegin(); folder != folders_.rend(); ++folder) {
    fs::remove(folder->first, ignored);  // stays when somebody else has put something there
  }
}

void StagedFiles::write(const fs::path& file, std::span<const uint8_t> bytes) {
  if (file == kStandardOutput) {
    keep_output_for_data();
    output_.append(bytes.begin(), bytes.end());
    return;
  }
  files_.emplace_back(file).write(bytes);
}

void StagedFiles::write(const fs::path& file, std::string_view text) {
  write(file, std::span(reinterpret_cast<const uint8_t*>(text.data()), text.size()));
}

void StagedFiles::adopt(graph::NewFile file) { files_.push_back(std::move(file)); }

void StagedFiles::make_folder(const fs::path& folder) {
  std::vector<fs::path> missing;  // inner ones first
  std::error_code failure;
  for (fs::path at = fs::absolute(folder); !fs::exists(at, failure); at = at.parent_path()) {
    if (!at.filename().empty()) missing.push_back(at);
    if (!at.has_relative_path()) break;
  }
  for (auto at = missing.rbegin(); at != missing.rend(); ++at) folders_.emplace_back(*at, graph::Unfinished(*at));
  fs::create_directories(folder, failure);
  if (failure || !fs::is_directory(folder)) {
    throw Error(ErrorCode::kCannotWrite, fmt::format("cannot make the folder {}: {}", in_quotes(folder.string()),
                                                     failure ? failure.message() : "it is a file"));
  }
}

void StagedFiles::check_places() const {
  std::set<fs::path> places;
  for (const graph::NewFile& file : files_) {
    std::string why = graph::why_not_replaceable(file.file());
    if (why.empty() && !places.insert(file.place()).second) why = "two results would go there";
    if (!why.empty()) {
      throw Error(ErrorCode::kCannotWrite,
                  fmt::format("cannot write {}: {}; choose another name", in_quotes(file.file().string()), why));
    }
  }
}

void StagedFiles::commit() {
  for (graph::NewFile& file : files_) file.finish();
  check_places();
  for (graph::NewFile& file : files_) file.take_place();
  say_data(std::exchange(output_, {}));
  files_.clear();
  folders_.clear();
}

}  // namespace npu::cli
