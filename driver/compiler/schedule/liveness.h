// SPDX-License-Identifier: Apache-2.0
// Which bytes of the scratchpad a stream that stops between two commands needs when it goes on.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "driver/compiler/schedule/footprint.h"
#include "driver/compiler/schedule/intervals.h"

namespace npu::compiler::backend {

// A byte is live before a command when a command before it wrote the byte, and that command or a later one reads it
// before any other writes it. Exact for footprints that are.
class Liveness {
 public:
  // One a command, in stream order; must outlive the object.
  explicit Liveness(const std::vector<std::vector<ByteSet>>& footprints);

  // Number of live bytes before each command, and at the end (none).
  [[nodiscard]] const std::vector<int64_t>& bytes() const { return bytes_; }
  // The live bytes before each of these commands; `commands` ascends.
  [[nodiscard]] std::vector<std::vector<ByteSpan>> spans(std::span<const size_t> commands) const;

 private:
  void step_back(size_t command, IntervalSet& live) const;

  const std::vector<std::vector<ByteSet>>& footprints_;
  std::map<size_t, IntervalSet> unwritten_;  // bytes that are read and were never written: not worth keeping
  std::vector<int64_t> bytes_;
};

}  // namespace npu::compiler::backend
