#include "hw/model/event_recorder.h"

#include <array>

#include "hw/model/memory_port.h"

namespace npu::model {

void EventRecorder::begin_job(uint64_t base, uint32_t capacity) {
  base_ = base;
  capacity_ = capacity;
  count_ = 0;
}

void EventRecorder::record(const contract::Event& event) {
  if (capacity_ == 0) return;
  if (count_ < capacity_) {
    std::array<uint8_t, contract::Event::kBytes> bytes;
    event.store(bytes.data());
    memory_.debug_write(base_ + uint64_t{count_} * contract::Event::kBytes, bytes);
  }
  ++count_;
}

}  // namespace npu::model
