// SPDX-License-Identifier: Apache-2.0
#include "sim/tool/say.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>

namespace npu::tool {
namespace {

std::FILE* said = nullptr;  // stdout, unless that is kept for data
int output_failure = 0;     // the first

void put(std::FILE* file, std::string_view text) {
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), file) != text.size() && file == stdout && output_failure == 0) {
    output_failure = errno;
  }
}

// A failed flush drops what it was to write, and the next one succeeds: each must be looked at.
void flush_output() {
  errno = 0;
  if (std::fflush(stdout) != 0 && output_failure == 0) output_failure = errno;
}

}  // namespace

void say_text(std::string_view text) { put(said == nullptr ? stdout : said, text); }

void say_data(std::string_view text) { put(stdout, text); }

void say_error_text(std::string_view text) {
  flush_output();  // in the order in which it was said, where both go to one place
  put(stderr, text);
}

void keep_output_for_data() { said = stderr; }

bool output_is_whole() {
  flush_output();
  if (output_failure == EPIPE) return true;
  return output_failure == 0 && std::ferror(stdout) == 0;
}

void prepare_output() {
  for (const int descriptor : {0, 1, 2}) {
    if (::fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest number that is free is this one.
    static_cast<void>(::open("/dev/null", descriptor == 0 ? O_RDONLY : O_WRONLY));
  }
  std::signal(SIGPIPE, SIG_IGN);
}

}  // namespace npu::tool
