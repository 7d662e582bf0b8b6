// SPDX-License-Identifier: Apache-2.0
#include "driver/runtime/resident_areas.h"

#include <fmt/format.h>

#include <optional>

#include "hw/contract/error.h"
#include "hw/contract/gen/commands.h"

namespace npu::runtime {

using contract::kResidentUnit;

ResidentAreas::Area::~Area() {
  if (areas_ != nullptr) areas_->places_.release(offset_);
}

ResidentAreas::ResidentAreas(uint32_t scratchpad_bytes)
    : places_(0, scratchpad_bytes / kResidentUnit * kResidentUnit, kResidentUnit) {}

ResidentAreas::Area ResidentAreas::take(uint32_t own, uint32_t bytes) {
  const uint64_t taken = places_.rounded(bytes);
  if (own + taken > places_.end()) {
    throw Error(
        contract::ErrorCode::kScratchpadFull,
        fmt::format("the program uses {} bytes of the scratchpad, and {} of constants are to stay there, but it "
                    "has {}; compile it again.",
                    own, bytes, places_.end()));
  }
  Area area;
  area.offset_ = static_cast<uint32_t>(places_.end() - taken);
  area.bytes_ = bytes;
  area.id_ = ++ids_;
  const std::optional<uint64_t> offset = places_.allocate_high(bytes, places_.end());
  if (offset && *offset < own) {
    places_.release(*offset);
  } else if (offset) {
    area.offset_ = static_cast<uint32_t>(*offset);
    area.areas_ = this;
  }
  return area;
}

ResidentAreas::Area ResidentAreas::none() {
  Area area;
  area.id_ = ++ids_;
  return area;
}

}  // namespace npu::runtime
