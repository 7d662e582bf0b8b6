// The persistent SRAM: storage that survives from job to job, with the variable table in its first var_entries * 16
// bytes, and one port of psram_port_bytes a cycle that DMA channels and engines share.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hw/contract/gen/capabilities.h"
#include "hw/contract/gen/commands.h"
#include "hw/timing/bank_occupancy.h"

namespace npu::model {

class PersistentSram {
 public:
  explicit PersistentSram(const contract::Capabilities& caps);

  // Marks of executions that can no longer be compared with `epoch` (8 bits wrap around) lose their meaning.
  void begin_job(uint16_t owner, uint8_t epoch);
  // Power-on state: everything 0, the table empty.
  void clear();

  [[nodiscard]] std::span<uint8_t> bytes() { return bytes_; }
  [[nodiscard]] std::span<const uint8_t> bytes() const { return bytes_; }
  [[nodiscard]] uint32_t table_bytes() const { return entries_ * contract::VariableEntry::kBytes; }
  [[nodiscard]] uint32_t entries() const { return entries_; }

  // `index` < entries().
  [[nodiscard]] contract::VariableEntry entry(uint32_t index) const;
  [[nodiscard]] bool seen(const contract::VariableEntry& entry, uint8_t epoch) const;
  [[nodiscard]] bool written(uint32_t index) const;
  void mark_seen(uint32_t index, uint8_t epoch);
  void mark_written(uint32_t index);

  // Books the port for accesses that take `port_cycles`, wanted over [start, start + length); returns their end.
  uint64_t book(uint64_t start, uint64_t length, uint32_t port_cycles);
  [[nodiscard]] uint32_t port_bytes() const { return port_bytes_; }

 private:
  void store(uint32_t index, const contract::VariableEntry& entry);

  uint32_t entries_;
  uint32_t port_bytes_;
  std::vector<uint8_t> bytes_;
  timing::BankOccupancy port_;
};

}  // namespace npu::model
