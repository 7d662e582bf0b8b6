#include "driver/graph/file.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "driver/graph/text.h"
#include "hw/contract/error.h"

namespace npu::graph {
namespace {

using contract::ErrorCode;

[[noreturn]] void fail(ErrorCode code, const char* verb, const std::filesystem::path& path, const std::string& why) {
  throw Error(code, std::string("cannot ") + verb + " " + in_quotes(path.string()) + ": " + why);
}

}  // namespace

std::vector<uint8_t> read_head(const std::filesystem::path& path, uintmax_t limit, uintmax_t count) {
  std::error_code failure;
  const auto status = std::filesystem::status(path, failure);
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

void write_file(const std::filesystem::path& path, std::span<const uint8_t> bytes) {
  if (path.filename().empty() || std::filesystem::is_directory(path)) {
    fail(ErrorCode::kCannotWrite, "write", path, "it is a folder");
  }
  std::filesystem::path temporary = path;
  temporary += ".part" + std::to_string(getpid());
  errno = 0;
  std::ofstream stream(temporary, std::ios::binary | std::ios::trunc);
  if (!stream) {
    fail(ErrorCode::kCannotWrite, "write", path, std::strerror(errno));
  }
  stream.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  stream.close();
  std::error_code failure;
  const std::string why = stream ? "" : std::strerror(errno);
  if (stream) {
    std::filesystem::rename(temporary, path, failure);
  }
  if (!stream || failure) {
    std::error_code ignored;
    std::filesystem::remove(temporary, ignored);
    fail(ErrorCode::kCannotWrite, "write", path, failure ? failure.message() : why);
  }
}

}  // namespace npu::graph
