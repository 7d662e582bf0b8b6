// SPDX-License-Identifier: Apache-2.0
#include "hw/model/counters.h"

#include <cstring>

#include "hw/model/memory_port.h"

namespace npu::model {

void Counters::add_to_memory(MemoryPort& memory, uint64_t base) const {
  std::array<uint8_t, sizeof(values_)> bytes;
  if (!memory.debug_read(base, bytes)) return;
  for (size_t i = 0; i < values_.size(); ++i) {
    uint64_t sum = 0;
    std::memcpy(&sum, bytes.data() + i * sizeof(sum), sizeof(sum));
    sum += values_[i];
    std::memcpy(bytes.data() + i * sizeof(sum), &sum, sizeof(sum));
  }
  memory.debug_write(base, bytes);
}

}  // namespace npu::model
