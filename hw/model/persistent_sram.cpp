#include "hw/model/persistent_sram.h"

#include <algorithm>

namespace npu::model {

PersistentSram::PersistentSram(const contract::Capabilities& caps)
    : port_bytes_(caps.psram_port_bytes),
      bytes_(caps.psram_bytes, 0),
      table_(bytes_, caps.var_entries, port_bytes_),
      port_(1) {}

void PersistentSram::begin_job(const engine::VariableTable::Job& job) {
  port_.begin_job();
  table_.forget_old_marks(job);
}

void PersistentSram::clear() { std::fill(bytes_.begin(), bytes_.end(), uint8_t{0}); }

uint64_t PersistentSram::book(uint64_t start, uint64_t length, uint32_t port_cycles) {
  return port_.book(start, length, std::span(&port_cycles, 1));
}

}  // namespace npu::model
