// SPDX-License-Identifier: Apache-2.0
// Files that appear together, after all of them have been written: a run that fails late leaves none of them, and what
// stood there before stays. A name that is a link means the file that it leads to.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "driver/graph/file.h"

namespace npu::tool {

inline constexpr const char* kStandardOutput = "-";

class StagedFiles {
 public:
  StagedFiles() = default;
  // Removes what was staged, and folders that were made, unless commit() has been called.
  ~StagedFiles();
  StagedFiles(const StagedFiles&) = delete;
  StagedFiles& operator=(const StagedFiles&) = delete;

  // All throw Error(kCannotWrite). The file "-" is standard output: it gets the text at commit(), and what commands say
  // goes to standard error from now on.
  void write(const std::filesystem::path& file, std::span<const uint8_t> bytes);
  void write(const std::filesystem::path& file, std::string_view text);
  // Takes over a file that was written elsewhere.
  void adopt(graph::NewFile file);
  // Makes a folder and those above it, where they are missing. Throws Error(kCannotWrite).
  void make_folder(const std::filesystem::path& folder);

  // Gives all files their names. Throws Error(kCannotWrite); before anything got its name where a file cannot be
  // written to its end, a place turns out to be there and no regular file, or two of the files have the same place.
  void commit();

 private:
  void check_places() const;

  std::vector<graph::NewFile> files_;
  std::string output_;                                                        // for standard output
  std::vector<std::pair<std::filesystem::path, graph::Unfinished>> folders_;  // made here, outer ones first
};

// Whether files could be made at these places, and what they would replace is a regular file; called before a long run.
// Throws Error(kCannotWrite).
void check_file_writable(const std::filesystem::path& file);
void check_folder_writable(const std::filesystem::path& folder);

}  // namespace npu::tool
