// SPDX-License-Identifier: Apache-2.0
// Where in the scratchpad the constants of loaded programs stay. Only a plan: whether they are there when a job starts,
// the firmware knows, and loads them if not.
#pragma once

#include <cstdint>
#include <utility>

#include "driver/runtime/range_allocator.h"

namespace npu::runtime {

class ResidentAreas {
 public:
  // A place; without bytes there is none. With the device's lock held, as all calls.
  class Area {
   public:
    Area() = default;
    ~Area();
    Area(Area&& other) noexcept { *this = std::move(other); }
    Area& operator=(Area&& other) noexcept {
      std::swap(areas_, other.areas_);
      std::swap(offset_, other.offset_);
      std::swap(bytes_, other.bytes_);
      std::swap(id_, other.id_);
      return *this;
    }

    [[nodiscard]] uint32_t offset() const { return offset_; }
    [[nodiscard]] uint32_t bytes() const { return bytes_; }
    [[nodiscard]] uint32_t id() const { return id_; }  // that no other area of the device has

   private:
    friend class ResidentAreas;
    ResidentAreas* areas_ = nullptr;  // null: nothing to give back
    uint32_t offset_ = 0, bytes_ = 0, id_ = 0;
  };

  explicit ResidentAreas(uint32_t scratchpad_bytes);

  // A place for `bytes`, not below `own`, which the program itself uses; the highest that is free, since programs use
  // the scratchpad from byte 0 on. Where none is free it is the highest, which others have, too: then each overwrites
  // the others' constants. Throws Error(kScratchpadFull) where own and bytes together are more than there is.
  [[nodiscard]] Area take(uint32_t own, uint32_t bytes);
  // No place, but a number.
  [[nodiscard]] Area none();

 private:
  RangeAllocator places_;
  uint32_t ids_ = 0;
};

}  // namespace npu::runtime
