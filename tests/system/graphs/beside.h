// SPDX-License-Identifier: Apache-2.0
// Another process that works through the same seeds: a process has one simulation, so two devices need two.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace npu::test {

class Beside {
 public:
  // Starts the process, which must come before this one opens a device. `work` gets the seeds in order, in the other
  // process.
  using Work = std::function<std::vector<uint8_t>(uint32_t seed)>;
  Beside(uint32_t first, uint32_t count, const Work& work);
  Beside(const Beside&) = delete;
  Beside& operator=(const Beside&) = delete;
  ~Beside();

  // What became of the next seed. Throws std::runtime_error when the process has ended.
  [[nodiscard]] std::vector<uint8_t> next();

 private:
  pid_t process_ = 0;
  int results_ = -1;
};

}  // namespace npu::test
