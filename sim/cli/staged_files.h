// SPDX-License-Identifier: Apache-2.0
// Files that appear together, after all of them have been written: a run that fails late leaves none of them, and what
// stood there before stays. A name that is a link means the file that it leads to.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace npu::cli {

class StagedFiles {
 public:
  StagedFiles() = default;
  // Removes what was staged, and folders that were made, unless commit() has been called.
  ~StagedFiles();
  StagedFiles(const StagedFiles&) = delete;
  StagedFiles& operator=(const StagedFiles&) = delete;

  // Calls `write` with the name under which to write `file` for now, a short one in the same folder. Throws what it
  // throws, with the name of `file` in the message.
  void write(const std::filesystem::path& file, const std::function<void(const std::filesystem::path&)>& write);
  // Writes `text` as `file`. Throws Error(kCannotWrite).
  void write(const std::filesystem::path& file, const std::string& text);
  // Takes over a file that was written beside the place of `file` to get its name.
  void adopt(std::filesystem::path temporary, const std::filesystem::path& file);
  // Makes a folder and those above it, where they are missing. Throws Error(kCannotWrite).
  void make_folder(const std::filesystem::path& folder);

  // Gives all files their names. Throws Error(kCannotWrite); before anything got its name when a place turns out to be
  // there and no regular file, or when two of the files have the same place.
  void commit();

 private:
  void check_places() const;

  std::vector<std::pair<std::filesystem::path, std::filesystem::path>> files_;  // written as, where to
  std::vector<std::filesystem::path> folders_;                                  // made here, outer ones first
};

}  // namespace npu::cli
