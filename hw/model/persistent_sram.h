// The persistent SRAM: storage that survives from job to job, with the variable table in its first var_entries * 16
// bytes, and one port of psram_port_bytes a cycle that DMA channels and engines share.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hw/contract/gen/capabilities.h"
#include "hw/engine/variable_table.h"
#include "hw/timing/bank_occupancy.h"

namespace npu::model {

class PersistentSram {
 public:
  explicit PersistentSram(const contract::Capabilities& caps);
  PersistentSram(const PersistentSram&) = delete;
  PersistentSram& operator=(const PersistentSram&) = delete;

  // Marks of executions that can no longer be compared with this one lose their meaning.
  void begin_job(const engine::VariableTable::Job& job);
  // Power-on state: everything 0, the table empty.
  void clear();

  [[nodiscard]] std::span<uint8_t> bytes() { return bytes_; }
  [[nodiscard]] std::span<const uint8_t> bytes() const { return bytes_; }
  [[nodiscard]] engine::VariableTable& table() { return table_; }
  [[nodiscard]] const engine::VariableTable& table() const { return table_; }

  // Books the port for accesses that take `port_cycles`, wanted over [start, start + length); returns their end.
  uint64_t book(uint64_t start, uint64_t length, uint32_t port_cycles);
  [[nodiscard]] uint32_t port_bytes() const { return port_bytes_; }

 private:
  uint32_t port_bytes_;
  std::vector<uint8_t> bytes_;
  engine::VariableTable table_;
  timing::BankOccupancy port_;
};

}  // namespace npu::model
