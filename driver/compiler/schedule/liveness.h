// SPDX-License-Identifier: Apache-2.0
// Which bytes of the scratchpad a stream that stops between two commands needs when it goes on.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "driver/compiler/schedule/emit.h"
#include "driver/compiler/schedule/footprint.h"
#include "driver/compiler/schedule/intervals.h"

namespace npu::compiler::backend {

// A branch of the stream, both by position.
struct Jump {
  size_t from = 0, to = 0;
  bool always = true;
};

// The branches of a stream whose labels have numbers (emit.h), ascending.
[[nodiscard]] std::vector<Jump> jumps_of(const std::vector<Command>& commands);

// A byte is live before a command when a command before it in the stream wrote the byte, and on some way through the
// branches that command or one behind it reads it before any other writes it. Exact for footprints that are.
class Liveness {
 public:
  // One a command, in stream order; must outlive the object.
  explicit Liveness(const std::vector<std::vector<ByteSet>>& footprints, std::span<const Jump> jumps = {});

  // Number of live bytes before each command, and at the end (none).
  [[nodiscard]] const std::vector<int64_t>& bytes() const { return bytes_; }
  // The live bytes before each of these commands; `commands` ascends.
  [[nodiscard]] std::vector<std::vector<ByteSpan>> spans(std::span<const size_t> commands) const;

 private:
  // `live` is what is live behind the command, and becomes what is live before it.
  void step_back(size_t command, IntervalSet& live) const;
  void settle();

  const std::vector<std::vector<ByteSet>>& footprints_;
  std::map<size_t, Jump> jumps_;             // by the branch
  std::map<size_t, IntervalSet> labels_;     // what is live before the commands that branches go to
  std::map<size_t, IntervalSet> unwritten_;  // bytes that are read and were never written: not worth keeping
  std::vector<int64_t> bytes_;
};

}  // namespace npu::compiler::backend
