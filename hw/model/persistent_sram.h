// SPDX-License-Identifier: Apache-2.0
// The persistent SRAM: storage that survives from job to job, with the variable table in its first var_entries * 16
// bytes, under error correction and with power of its own, and one port of psram_port_bytes a cycle that DMA channels
// and engines share. What takes time of it (clearing itself, scrubbing) is persistent_port.h's.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "hw/contract/gen/capabilities.h"
#include "hw/engine/variable_table.h"
#include "hw/model/byte_set.h"
#include "hw/model/ecc.h"

namespace npu::model {

class PersistentSram {
 public:
  using Power = contract::PsramPower;

  explicit PersistentSram(const contract::Capabilities& caps);
  PersistentSram(const PersistentSram&) = delete;
  PersistentSram& operator=(const PersistentSram&) = delete;

  // Marks of executions that can no longer be compared with this one lose their meaning, in so many rows of the table.
  // Or the index of a table entry that cannot be read; then nothing happens.
  struct Begun {
    uint32_t cleared = 0;
    std::optional<uint32_t> wrong;
  };
  Begun begin_job(const engine::VariableTable::Job& job);
  // A cold reset: on, everything 0 and right, nothing lost, nothing counted.
  void reset();

  // True when it has to clear itself, because it was off.
  bool set_power(Power power);
  [[nodiscard]] Power power() const { return power_; }
  [[nodiscard]] bool on() const { return power_ == Power::kOn; }
  // It was off since the last acknowledge_loss().
  [[nodiscard]] bool lost() const { return lost_; }
  void acknowledge_loss() { lost_ = false; }

  [[nodiscard]] std::span<uint8_t> bytes() { return bytes_; }
  [[nodiscard]] std::span<const uint8_t> bytes() const { return bytes_; }
  [[nodiscard]] engine::VariableTable& table() { return table_; }
  [[nodiscard]] const engine::VariableTable& table() const { return table_; }

  // Error correction. Each is asked before the bytes are used, and answers with what cannot be read: the index of a
  // table entry, or the first byte of a word.
  [[nodiscard]] Ecc& ecc() { return ecc_; }
  [[nodiscard]] std::optional<uint32_t> read_table();
  // The row of the memory that an entry lies in; `index` is one of the table.
  [[nodiscard]] std::optional<uint32_t> read_row_of(uint32_t index);
  [[nodiscard]] std::optional<uint64_t> read(const ByteSet& bytes);
  [[nodiscard]] std::optional<uint64_t> read_edges(const ByteSet& bytes);
  // The bytes were written.
  void wrote(const ByteSet& bytes);

 private:
  [[nodiscard]] std::optional<uint32_t> read_entries(uint64_t low, uint64_t high);
  void clear();

  uint32_t port_bytes_;
  std::vector<uint8_t> bytes_;
  Ecc ecc_;
  engine::VariableTable table_;
  Power power_ = Power::kOn;
  bool lost_ = false;
  bool powerless_ = false;  // it was off since it was last on
};

}  // namespace npu::model
