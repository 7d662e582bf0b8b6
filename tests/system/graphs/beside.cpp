// SPDX-License-Identifier: Apache-2.0
#include "tests/system/graphs/beside.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <iostream>
#include <stdexcept>

namespace npu::test {
namespace {

bool write_all(int file, const void* data, size_t size) {
  const auto* bytes = static_cast<const uint8_t*>(data);
  while (size > 0) {
    const ssize_t count = write(file, bytes, size);
    if (count <= 0) return false;
    bytes += count, size -= static_cast<size_t>(count);
  }
  return true;
}

void read_all(int file, void* data, size_t size) {
  auto* bytes = static_cast<uint8_t*>(data);
  while (size > 0) {
    const ssize_t count = read(file, bytes, size);
    if (count <= 0) throw std::runtime_error("the other process has ended");
    bytes += count, size -= static_cast<size_t>(count);
  }
}

[[noreturn]] void work_through(int results, uint32_t first, uint32_t count, const Beside::Work& work) {
  try {
    for (uint32_t seed = first; seed < first + count; ++seed) {
      const std::vector<uint8_t> result = work(seed);
      const uint64_t size = result.size();
      if (!write_all(results, &size, sizeof(size)) || !write_all(results, result.data(), result.size())) break;
    }
  } catch (const std::exception& error) {
    std::cerr << "in the other process: " << error.what() << std::endl;
    std::_Exit(1);
  }
  std::_Exit(0);
}

}  // namespace

Beside::Beside(uint32_t first, uint32_t count, const Work& work) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe");
  process_ = fork();
  if (process_ < 0) throw std::runtime_error("no process");
  if (process_ == 0) {
    close(ends[0]);
    work_through(ends[1], first, count, work);
  }
  close(ends[1]);
  results_ = ends[0];
}

// A process that still writes gets SIGPIPE.
Beside::~Beside() {
  close(results_);
  waitpid(process_, nullptr, 0);
}

std::vector<uint8_t> Beside::next() {
  uint64_t size = 0;
  read_all(results_, &size, sizeof(size));
  std::vector<uint8_t> result(size);
  read_all(results_, result.data(), result.size());
  return result;
}

}  // namespace npu::test
