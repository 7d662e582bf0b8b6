// SPDX-License-Identifier: Apache-2.0
// Which bytes of a variable the commands of a job have written since its last write was complete. A write to a variable
// with two places must cover all of the new place: what it leaves out would be bytes of an older value, or of none.
#pragma once

#include <cstdint>
#include <map>
#include <set>

#include "hw/model/byte_set.h"

namespace npu::model {

class WriteCoverage {
 public:
  // A job that starts: nothing is written.
  void begin_job();
  // A job that goes on, while it was writing this variable: what it had written is not known any more, so the write
  // that it is in passes.
  void forget(uint32_t index) { unknown_.insert(index); }

  // A command writes `bytes`, which are addresses, of the variable.
  void add(uint32_t index, const ByteSet& bytes);
  // The write is complete: was each of the bytes [low, high) written? What follows is another write.
  [[nodiscard]] bool complete(uint32_t index, uint64_t low, uint64_t high);

 private:
  using Ranges = std::map<uint64_t, uint64_t>;  // first byte -> one beyond the last; apart from each other
  static void add(Ranges& ranges, uint64_t first, uint64_t end);

  std::map<uint32_t, Ranges> written_;  // by table index
  std::set<uint32_t> unknown_;          // variables whose write began before the job went on
};

}  // namespace npu::model
