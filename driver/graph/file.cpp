// SPDX-License-Identifier: Apache-2.0
#include "driver/graph/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <system_error>
#include <utility>

#include "driver/graph/text.h"
#include "hw/contract/error.h"

namespace npu::graph {
namespace {

using contract::ErrorCode;

[[noreturn]] void fail(ErrorCode code, const char* verb, const std::filesystem::path& path, const std::string& why) {
  throw Error(code, std::string("cannot ") + verb + " " + in_quotes(path.string()) + ": " + why);
}

// A new file without a user, which is gone again unless it got its name. It gets the permissions of the file that it
// replaces, and before that it is its owner's alone.
class Temporary {
 public:
  // Beside `place`; errno tells why there is none.
  explicit Temporary(const std::filesystem::path& place) : path_(place) {
    static std::atomic<unsigned> made{0};
    struct stat old = {};
    if (::stat(place.c_str(), &old) == 0) mode_ = old.st_mode & 07777;
    do {  // what a process of this number left behind is not ours
      path_.replace_filename(".npu-part-" + std::to_string(::getpid()) + "-" + std::to_string(made++));
      descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode_ ? 0600 : 0666);
    } while (descriptor_ < 0 && errno == EEXIST);
    there_ = descriptor_ >= 0;
  }
  ~Temporary() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (there_) ::unlink(path_.c_str());
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;

  [[nodiscard]] bool there() const { return there_; }
  // Both return false with errno.
  [[nodiscard]] bool write(std::span<const uint8_t> bytes) const {
    while (!bytes.empty()) {
      const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
      if (written < 0 && errno != EINTR) return false;
      if (written > 0) bytes = bytes.subspan(static_cast<size_t>(written));
    }
    return true;
  }
  [[nodiscard]] bool become(const std::filesystem::path& place) {
    if (mode_ && ::fchmod(descriptor_, *mode_) != 0) return false;
    if (::close(std::exchange(descriptor_, -1)) != 0 || ::rename(path_.c_str(), place.c_str()) != 0) return false;
    there_ = false;
    return true;
  }

 private:
  std::filesystem::path path_;
  std::optional<mode_t> mode_;  // of the file that is replaced
  int descriptor_ = -1;
  bool there_ = false;
};

}  // namespace

std::vector<uint8_t> read_head(const std::filesystem::path& path, uintmax_t limit, uintmax_t count) {
  std::error_code failure;
  const auto status = std::filesystem::status(path, failure);
  if (status.type() == std::filesystem::file_type::none) {  // not even that can be told: a folder that is not ours
    fail(ErrorCode::kCannotRead, "read", path, failure.message());
  }
  if (!std::filesystem::exists(status)) {
    fail(ErrorCode::kCannotRead, "read", path, "no such file");
  }
  if (!std::filesystem::is_regular_file(status)) {
    fail(ErrorCode::kCannotRead, "read", path, "it is not a regular file");
  }
  uintmax_t size = std::filesystem::file_size(path, failure);
  if (failure) {
    fail(ErrorCode::kCannotRead, "read", path, failure.message());
  }
  if (size > limit) {
    throw Error(ErrorCode::kBudgetExceeded, in_quotes(path.string()) + " has " + std::to_string(size) +
                                                " bytes; at most " + std::to_string(limit) + " are read");
  }
  size = std::min(size, count);
  errno = 0;
  std::ifstream stream(path, std::ios::binary);
  if (!stream) {
    fail(ErrorCode::kCannotRead, "read", path, std::strerror(errno));
  }
  std::vector<uint8_t> bytes(size);
  stream.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size));
  if (static_cast<uintmax_t>(stream.gcount()) != size) {
    fail(ErrorCode::kCannotRead, "read", path, "it ends before its size");
  }
  return bytes;
}

std::vector<uint8_t> read_file(const std::filesystem::path& path, uintmax_t limit) {
  return read_head(path, limit, limit);
}

std::filesystem::path place_of(const std::filesystem::path& path) {
  constexpr int kMostLinks = 40;  // as Linux follows
  std::error_code failure;
  std::filesystem::path place = std::filesystem::absolute(path, failure);
  // By hand, since weakly_canonical() leaves a link as it is that leads to what is not there yet.
  for (int i = 0; i < kMostLinks && is_symlink(symlink_status(place, failure)); ++i) {
    const std::filesystem::path target = std::filesystem::read_symlink(place, failure);
    if (failure) break;
    place = place.parent_path() / target;  // an absolute target replaces all
  }
  std::filesystem::path canonical = std::filesystem::weakly_canonical(place, failure);
  return failure ? place.lexically_normal() : canonical;
}

std::string why_not_replaceable(const std::filesystem::path& path) {
  if (path.empty()) return "it is not the name of a file";
  const std::filesystem::path place = place_of(path);
  if (place.filename().empty()) return "it is not the name of a file";
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::symlink_status(place, ignored);
  if (is_directory(status)) return "it is a folder";
  if (is_symlink(status)) return "it is a link that leads back to itself";
  if (exists(status) && !is_regular_file(status)) return "it is there and no regular file";
  // A file that is protected is not to be lost, though the folder would let it.
  if (exists(status) && ::access(place.c_str(), W_OK) != 0) return "it is there and write-protected";
  return "";
}

void write_file(const std::filesystem::path& path, std::span<const uint8_t> bytes) {
  const std::string why = why_not_replaceable(path);
  if (!why.empty()) fail(ErrorCode::kCannotWrite, "write", path, why + "; choose another name");
  const std::filesystem::path place = place_of(path);
  Temporary temporary(place);
  if (!temporary.there() || !temporary.write(bytes) || !temporary.become(place)) {
    fail(ErrorCode::kCannotWrite, "write", path, std::strerror(errno));
  }
}

}  // namespace npu::graph
