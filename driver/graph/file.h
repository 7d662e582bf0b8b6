// SPDX-License-Identifier: Apache-2.0
// Whole files in and out.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace npu::graph {

// The bytes of a regular file. Throws Error: cannot_read; budget_exceeded when it has more than `limit` bytes.
[[nodiscard]] std::vector<uint8_t> read_file(const std::filesystem::path& path, uintmax_t limit);
// The first bytes of it, at most `count`; throws the same.
[[nodiscard]] std::vector<uint8_t> read_head(const std::filesystem::path& path, uintmax_t limit, uintmax_t count);

// Where a file is, or would be made: an absolute path that is no link and has none in it, whatever way of writing it or
// links lead there. Links that lead back to themselves stay what they are.
[[nodiscard]] std::filesystem::path place_of(const std::filesystem::path& path);

// Why `path` is no place for a file to write, in words ("it is a folder"): only regular files are replaced, be it
// through links. Empty when it is one, as far as what is there now tells.
[[nodiscard]] std::string why_not_replaceable(const std::filesystem::path& path);

// A path in the same folder with a name that no other process has or can foresee.
[[nodiscard]] std::filesystem::path unique_path_beside(const std::filesystem::path& place);

// A file or an empty folder that is to be removed if a signal ends the program before its work is done.
class Unfinished {
 public:
  Unfinished() = default;
  explicit Unfinished(const std::filesystem::path& path);
  Unfinished(Unfinished&& other) noexcept;
  Unfinished& operator=(Unfinished&& other) noexcept;
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;
  ~Unfinished() { done(); }
  void done();

  // Removes all of them. For handlers of signals that end the program: what it calls may be called there.
  static void remove_all() noexcept;

 private:
  char* name_ = nullptr;
  size_t slot_ = 0;
};

// A file that is made in the folder of its place and takes its place once it is whole and on the disk: what stood there
// stays as it is until then, and a run that fails or is killed leaves nothing. Until then it has no name where the file
// system knows such files, else one that no other process has. It gets the permissions of what it replaces, and before
// that it is its owner's alone. A name that is a link means the file that it leads to.
class NewFile {
 public:
  enum class Name { kNone, kNeeded };  // kNeeded: for writers that open files by name
  // Throws Error(cannot_write), also where something is that is no regular file or write-protected.
  explicit NewFile(const std::filesystem::path& file, Name name = Name::kNone);
  NewFile(NewFile&& other) noexcept;
  NewFile& operator=(NewFile&&) = delete;
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  // Removes it, unless it took its place.
  ~NewFile();

  // What the caller named, and where that is.
  [[nodiscard]] const std::filesystem::path& file() const { return file_; }
  [[nodiscard]] const std::filesystem::path& place() const { return place_; }
  // What it is called for now, if anything; and open for writing.
  [[nodiscard]] const std::filesystem::path& part() const { return part_; }
  [[nodiscard]] int descriptor() const { return descriptor_; }

  // All throw Error(cannot_write).
  void write(std::span<const uint8_t> bytes);
  void finish();      // everything is on the disk then
  void take_place();  // finishes

 private:
  [[noreturn]] void fail(const std::string& why) const;
  void open_named(mode_t mode);
  void remove();

  std::filesystem::path file_, place_, part_;
  Unfinished unfinished_;
  int descriptor_ = -1;
  bool finished_ = false;
};

// A NewFile with these bytes that takes its place. Throws Error(cannot_write).
void write_file(const std::filesystem::path& path, std::span<const uint8_t> bytes);

}  // namespace npu::graph
