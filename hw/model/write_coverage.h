// SPDX-License-Identifier: Apache-2.0
// Which bytes of a variable the commands of an execution have written since its last write was complete. A write to a
// variable with two places must cover all of the new place: what it leaves out would be bytes of an older value, or of
// none.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "hw/model/byte_set.h"

namespace npu::model {

class WriteCoverage {
 public:
  // An execution declares the variable: nothing of it is written. One that is interrupted and goes on does not declare
  // it again, so that what it had written counts.
  void declared(uint32_t index) { written_.erase(index); }

  // A command writes `bytes`, which are addresses, of the variable in [low, high).
  void add(uint32_t index, uint64_t low, uint64_t high, const ByteSet& bytes);
  // The write is complete: was each byte of the variable written? What follows is another write.
  [[nodiscard]] bool complete(uint32_t index);

 private:
  struct Place {
    uint64_t low = 0, left = 0;  // bytes that are not written
    std::vector<bool> written;   // by byte: as many runs as it may have, it never takes more than that
  };
  std::map<uint32_t, Place> written_;  // by table index
};

}  // namespace npu::model
