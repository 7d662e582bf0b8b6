// SPDX-License-Identifier: Apache-2.0
#include "hw/model/event_recorder.h"

#include <array>

#include "hw/model/memory_port.h"

namespace npu::model {

void EventRecorder::begin_job(uint64_t base, uint32_t capacity, uint64_t cycle_base) {
  base_ = base;
  capacity_ = capacity;
  cycle_base_ = cycle_base;
  count_ = 0;
}

void EventRecorder::record(contract::Event event) {
  if (count_ < capacity_) {
    event.issued += cycle_base_;
    event.started += cycle_base_;
    event.completed += cycle_base_;
    std::array<uint8_t, contract::Event::kBytes> bytes;
    event.store(bytes.data());
    memory_.debug_write(base_ + uint64_t{count_} * contract::Event::kBytes, bytes);
  }
  if (count_ != UINT32_MAX) ++count_;
}

}  // namespace npu::model
