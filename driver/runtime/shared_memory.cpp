// SPDX-License-Identifier: Apache-2.0
#include "driver/runtime/shared_memory.h"

#include <fmt/format.h>

#include "hw/contract/error.h"

namespace npu::runtime {

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
