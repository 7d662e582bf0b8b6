// SPDX-License-Identifier: Apache-2.0
#include "driver/runtime/shared_memory.h"

#include <fmt/format.h>

#include <algorithm>

#include "hw/contract/error.h"

namespace npu::runtime {

// A quarter of the smallest device; on others a sixteenth, as far as hundreds of programs with their tables need it.
uint64_t shared_memory_bytes(uint64_t dram_bytes) { return std::clamp<uint64_t>(dram_bytes / 16, 256 << 10, 1 << 20); }

SharedMemory::Piece SharedMemory::allocate(uint64_t bytes, std::string_view what) {
  const std::optional<uint64_t> address = ranges_.allocate(bytes);
  if (!address) {
    throw Error(contract::ErrorCode::kDramFull,
                fmt::format("{} needs {} bytes of the {} that driver and firmware share, but only {} are free in one "
                            "piece; release programs or contexts that are not needed any more.",
                            what, bytes, ranges_.capacity(), ranges_.largest_free()));
  }
  return {*this, *address};
}

}  // namespace npu::runtime
