// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/staged_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <set>
#include <span>
#include <system_error>

#include "driver/graph/file.h"
#include "driver/graph/text.h"
#include "hw/contract/error.h"

namespace npu::cli {

namespace fs = std::filesystem;
using contract::ErrorCode;
using graph::in_quotes;

namespace {

// Gives `temporary` the permissions of what it replaces, if `place` is there. A file that is not made yet is made
// empty, so that no other user can read what is written to it before it gets its name.
void copy_permissions(const fs::path& place, const fs::path& temporary) {
  struct stat old = {};
  if (::stat(place.c_str(), &old) != 0 || !S_ISREG(old.st_mode)) return;
  const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) return;  // writing tells why
  static_cast<void>(::fchmod(descriptor, old.st_mode & 07777));
  ::close(descriptor);
}

}  // namespace

StagedFiles::~StagedFiles() {
  std::error_code ignored;
  for (const auto& [temporary, file] : files_) fs::remove(temporary, ignored);
  for (auto folder = folders_.rbegin(); folder != folders_.rend(); ++folder) {
    fs::remove(*folder, ignored);  // stays when somebody else has put something there
  }
}

void StagedFiles::write(const fs::path& file, const std::function<void(const fs::path&)>& write) {
  const fs::path place = graph::place_of(file);
  fs::path temporary = place;
  temporary.replace_filename(fmt::format(".npu-{}-{}", ::getpid(), files_.size()));
  files_.emplace_back(temporary, place);
  copy_permissions(place, temporary);
  try {
    write(temporary);
  } catch (const Error& error) {
    std::string message = error.what();
    const size_t at = message.find(temporary.string());
    if (at != std::string::npos) message.replace(at, temporary.string().size(), file.string());
    throw Error(error.code(), message);
  }
}

void StagedFiles::write(const fs::path& file, const std::string& text) {
  write(file, [&](const fs::path& temporary) {
    graph::write_file(temporary, std::span(reinterpret_cast<const uint8_t*>(text.data()), text.size()));
  });
}

void StagedFiles::adopt(fs::path temporary, const fs::path& file) {
  const fs::path place = graph::place_of(file);
  copy_permissions(place, temporary);
  files_.emplace_back(std::move(temporary), place);
}

void StagedFiles::make_folder(const fs::path& folder) {
  std::vector<fs::path> missing;  // inner ones first
  std::error_code failure;
  for (fs::path at = fs::absolute(folder); !fs::exists(at, failure); at = at.parent_path()) {
    if (!at.filename().empty()) missing.push_back(at);
    if (!at.has_relative_path()) break;
  }
  fs::create_directories(folder, failure);
  if (failure || !fs::is_directory(folder)) {
    throw Error(ErrorCode::kCannotWrite, fmt::format("cannot make the folder {}: {}", in_quotes(folder.string()),
                                                     failure ? failure.message() : "it is a file"));
  }
  folders_.insert(folders_.end(), missing.rbegin(), missing.rend());
}

void StagedFiles::check_places() const {
  std::set<fs::path> places;
  for (const auto& [temporary, file] : files_) {
    std::string why = graph::why_not_replaceable(file);
    if (why.empty() && !places.insert(file).second) why = "two results would go there";
    if (!why.empty()) {
      throw Error(ErrorCode::kCannotWrite,
                  fmt::format("cannot write {}: {}; choose another name", in_quotes(file.string()), why));
    }
  }
}

void StagedFiles::commit() {
  check_places();
  for (const auto& [temporary, file] : files_) {
    std::error_code failure;
    fs::rename(temporary, file, failure);
    if (!failure) continue;
    throw Error(ErrorCode::kCannotWrite,
                fmt::format("cannot write {}: {}", in_quotes(file.string()), failure.message()));
  }
  files_.clear();
  folders_.clear();
}

}  // namespace npu::cli
