// SPDX-License-Identifier: Apache-2.0
// What the persistent SRAM's RTL has to do, without its cycles: bytes under ECC, and operations on the variable table
// by the rules of the model's (hw/engine/variable_table).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "hw/engine/variable_table.h"
#include "rtl/verilated/persistent_sram.h"

namespace npu::cosim {

class PersistentSramContents {
 public:
  using Access = rtl::PersistentSram::Access;
  using Operation = rtl::PersistentSram::Operation;
  using Power = rtl::PersistentSram::Power;
  using Sizes = rtl::PersistentSram::Sizes;

  static constexpr uint32_t kWordBytes = 8;  // under one code, of 72 bits

  struct Result {
    contract::ErrorCode error = contract::ErrorCode::kOk;
    std::vector<uint8_t> data;  // of a read without error
    uint32_t corrected = 0;     // wrong bits put right
    bool late = false;          // something is written behind it: the next access waits a cycle
    uint32_t failed = 0;        // words with two wrong bits, one bit each
  };
  // A row of the table that is read, or written in part.
  struct Step {
    bool write = false;
    uint32_t row = 0, strobe = 0;
    std::vector<uint8_t> data;
  };
  // Rows in the order in which they are asked for. The answer to one of them ends the reading; then one may be written.
  struct Run {
    std::vector<uint32_t> rows;
    size_t reads = 0;  // rows up to that one
    std::optional<Step> write;
  };
  // An operation ends at the first access that fails, else with `error`.
  struct Plan {
    std::vector<Run> runs;
    contract::ErrorCode error = contract::ErrorCode::kOk;
    rtl::PersistentSram::Place place;  // of a check that is passed: the one that the access uses
  };

  explicit PersistentSramContents(const Sizes& sizes)
      : sizes_(sizes),
        bytes_(sizes.bytes),
        flips_(sizes.bytes / kWordBytes),
        table_(table_of(bytes_)),
        compared_(sizes.entries) {}
  PersistentSramContents(const PersistentSramContents&) = delete;
  PersistentSramContents& operator=(const PersistentSramContents&) = delete;

  // All bytes become 0, and right, and no place has been compared.
  void clear();
  // At most two stored bits of a word may be wrong.
  void inject(uint32_t row, uint32_t lane, uint64_t data_flips, uint8_t check_flips);
  [[nodiscard]] uint32_t wrong_bits(uint32_t row, uint32_t lane) const;

  Result access(const Access& access, Power power);
  Result step(const Step& step, Power power);
  // As the table is now; `lost`: a loss of contents is not acknowledged. A job that begins becomes the one
  // that later operations belong to, whatever comes of it.
  [[nodiscard]] Plan plan(const Operation& operation, bool lost);
  [[nodiscard]] Step reading(uint32_t row) const;
  // A declaration has found no other variable's bytes in the place of this one.
  void compared(uint32_t index) { compared_.at(index) = true; }

  [[nodiscard]] uint32_t rows() const { return sizes_.bytes / sizes_.port_bytes; }
  [[nodiscard]] uint32_t lanes() const { return sizes_.port_bytes / kWordBytes; }
  [[nodiscard]] uint32_t table_rows() const { return table_.bytes() / sizes_.port_bytes; }
  [[nodiscard]] const Sizes& sizes() const { return sizes_; }
  // The first entry of a row of the table that one of these words belongs to.
  [[nodiscard]] uint32_t entry_of(uint32_t row, uint32_t words) const;

 private:
  struct Flips {
    uint64_t data = 0;
    uint8_t check = 0;
  };

  Result read(uint32_t row, uint32_t strobe);
  Result write(uint32_t row, uint32_t strobe, std::span<const uint8_t> data);
  // The strobe of a word.
  [[nodiscard]] static uint32_t of_word(uint32_t strobe, uint32_t lane) { return strobe >> (kWordBytes * lane) & 0xff; }
  [[nodiscard]] Flips& flips(uint32_t row, uint32_t lane) { return flips_[uint64_t{row} * lanes() + lane]; }
  [[nodiscard]] uint32_t row_of(uint32_t index) const;
  [[nodiscard]] engine::VariableTable table_of(std::vector<uint8_t>& bytes) const {
    return {bytes, sizes_.entries, sizes_.port_bytes};
  }
  [[nodiscard]] std::vector<uint8_t> table_copy() const;
  [[nodiscard]] Step marking(uint32_t row, uint32_t strobe, const std::vector<uint8_t>& changed) const;
  [[nodiscard]] Step marking_of(uint32_t index, const std::vector<uint8_t>& changed) const;
  void plan_begin(Plan& plan) const;
  void plan_declaration(const Operation& operation, Plan& plan) const;
  void plan_check(const Operation& operation, Plan& plan) const;
  void plan_commit(const Operation& operation, Plan& plan) const;
  [[nodiscard]] contract::ErrorCode check(const Operation& operation) const;

  Sizes sizes_;
  std::vector<uint8_t> bytes_;  // as they are meant
  std::vector<Flips> flips_;    // of each word
  engine::VariableTable table_;
  engine::VariableTable::Job job_;
  std::vector<bool> compared_;  // of each entry: with all others, none of which has been written since
};

}  // namespace npu::cosim
