// SPDX-License-Identifier: Apache-2.0
#include "driver/graph/file.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string_view>
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

// Names that remove_all() removes. A name belongs to the one that takes it out; those that remove_all() took are kept.
constexpr size_t kMostUnfinished = 1024;  // those beyond stay behind after a signal
std::array<std::atomic<char*>, kMostUnfinished> unfinished{}, removed{};
static_assert(std::atomic<char*>::is_always_lock_free);  // else no handler may read it

// A name that others cannot foresee.
std::string unique_name() {
  std::array<uint64_t, 2> random{};
  while (::getrandom(random.data(), sizeof(random), 0) < 0 && errno == EINTR) {
  }
  constexpr std::string_view kDigits = "0123456789abcdefghijklmnopqrstuv";
  std::string name = ".npu-part-";
  for (uint64_t word : random) {
    for (int digit = 0; digit < 12; ++digit, word >>= 5) name += kDigits[word & 31];
  }
  return name;
}

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

std::filesystem::path unique_path_beside(const std::filesystem::path& place) {
  return place.parent_path() / unique_name();
}

Unfinished::Unfinished(const std::filesystem::path& path) : name_(::strdup(path.c_str())), slot_(0) {
  for (; name_ != nullptr && slot_ < kMostUnfinished; ++slot_) {
    char* none = nullptr;
    if (unfinished[slot_].compare_exchange_strong(none, name_)) return;
  }
  std::free(std::exchange(name_, nullptr));
}

Unfinished::Unfinished(Unfinished&& other) noexcept : name_(std::exchange(other.name_, nullptr)), slot_(other.slot_) {}

Unfinished& Unfinished::operator=(Unfinished&& other) noexcept {
  std::swap(name_, other.name_);
  std::swap(slot_, other.slot_);
  return *this;
}

void Unfinished::done() {
  if (name_ == nullptr) return;
  // A handler may have taken the name, and still be reading it.
  if (unfinished[slot_].exchange(nullptr) != nullptr) std::free(name_);
  name_ = nullptr;
}

void Unfinished::remove_all() noexcept {
  const int before = errno;
  // Folders are listed before what is in them.
  for (size_t slot = kMostUnfinished; slot-- > 0;) {
    char* const name = unfinished[slot].exchange(nullptr);
    if (name == nullptr) continue;
    removed[slot] = name;
    if (::unlink(name) != 0) ::rmdir(name);
  }
  errno = before;
}

NewFile::NewFile(const std::filesystem::path& file, Name name) : file_(file) {
  const std::string why = why_not_replaceable(file);
  if (!why.empty()) fail(why + "; choose another name");
  place_ = place_of(file);
  struct stat old = {};
  const bool replaces = ::stat(place_.c_str(), &old) == 0;
  const mode_t mode = replaces ? 0600 : 0666;
  if (name == Name::kNone && ::access("/proc/self/fd", X_OK) == 0) {
    descriptor_ = ::open(place_.parent_path().c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
  }
  if (descriptor_ < 0) open_named(mode);
  if (replaces && ::fchmod(descriptor_, old.st_mode & 07777) != 0) {
    const int failure = errno;
    remove();
    fail(std::strerror(failure));
  }
}

void NewFile::open_named(mode_t mode) {
  do {
    part_ = unique_path_beside(place_);
    descriptor_ = ::open(part_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
  } while (descriptor_ < 0 && errno == EEXIST);
  if (descriptor_ < 0) fail(std::strerror(errno));
  unfinished_ = Unfinished(part_);
}

NewFile::NewFile(NewFile&& other) noexcept
    : file_(std::move(other.file_)),
      place_(std::move(other.place_)),
      part_(std::move(other.part_)),
      unfinished_(std::move(other.unfinished_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      finished_(other.finished_) {
  other.part_.clear();
}

NewFile::~NewFile() { remove(); }

void NewFile::remove() {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  if (!part_.empty()) ::unlink(part_.c_str());
  part_.clear();
  unfinished_.done();
}

void NewFile::fail(const std::string& why) const { npu::graph::fail(ErrorCode::kCannotWrite, "write", file_, why); }

void NewFile::write(std::span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) fail(std::strerror(errno));
    if (written > 0) bytes = bytes.subspan(static_cast<size_t>(written));
  }
}

void NewFile::finish() {
  if (std::exchange(finished_, true)) return;
  // Some file systems cannot, and say so.
  if (::fsync(descriptor_) != 0 && errno != EINVAL && errno != ENOTSUP) fail(std::strerror(errno));
}

void NewFile::take_place() {
  finish();
  if (part_.empty()) {
    const std::string unnamed = "/proc/self/fd/" + std::to_string(descriptor_);
    const std::filesystem::path part = unique_path_beside(place_);
    unfinished_ = Unfinished(part);
    if (::linkat(AT_FDCWD, unnamed.c_str(), AT_FDCWD, part.c_str(), AT_SYMLINK_FOLLOW) != 0) fail(std::strerror(errno));
    part_ = part;
  }
  if (::close(std::exchange(descriptor_, -1)) != 0) fail(std::strerror(errno));
  if (::rename(part_.c_str(), place_.c_str()) != 0) fail(std::strerror(errno));
  part_.clear();
  unfinished_.done();
}

void write_file(const std::filesystem::path& path, std::span<const uint8_t> bytes) {
  NewFile file(path);
  file.write(bytes);
  file.take_place();
}

}  // namespace npu::graph
