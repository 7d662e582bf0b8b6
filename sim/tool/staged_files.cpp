// SPDX-License-Identifier: Apache-2.0
#include "sim/tool/staged_files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include "driver/graph/text.h"
#include "hw/contract/error.h"
#include "sim/tool/say.h"

namespace npu::tool {

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

void check_folder_writable(const fs::path& folder) {
  fs::path existing = fs::absolute(folder);
  std::error_code ignored;
  while (!fs::exists(existing, ignored) && existing.has_relative_path()) existing = existing.parent_path();
  if (!fs::is_directory(existing, ignored)) {
    throw Error(ErrorCode::kCannotWrite, fmt::format("cannot write to {}: {} is not a folder",
                                                     in_quotes(folder.string()), in_quotes(existing.string())));
  }
  if (::access(existing.c_str(), W_OK | X_OK) != 0) {
    throw Error(ErrorCode::kCannotWrite, fmt::format("cannot write to {}: {} is not writable",
                                                     in_quotes(folder.string()), in_quotes(existing.string())));
  }
}

void check_file_writable(const fs::path& file) {
  if (file == kStandardOutput) return;
  const std::string why = graph::why_not_replaceable(file);
  if (!why.empty()) {
    throw Error(ErrorCode::kCannotWrite,
                fmt::format("cannot write {}: {}; choose another name", in_quotes(file.string()), why));
  }
  std::error_code ignored;
  const fs::path folder = graph::place_of(file).parent_path();
  if (!fs::is_directory(folder, ignored) || ::access(folder.c_str(), W_OK | X_OK) != 0) {
    throw Error(ErrorCode::kCannotWrite, fmt::format("cannot write {}: there is no writable folder {}",
                                                     in_quotes(file.string()), in_quotes(folder.string())));
  }
}

}  // namespace npu::tool
