// SPDX-License-Identifier: Apache-2.0
// The persistent SRAM: storage that survives from job to job, with the variable table in its first var_entries * 16
// bytes, under error correction and with power of its own, and one port of psram_port_bytes a cycle that DMA channels
// and engines share. What takes time of it (clearing itself, scrubbing) is persistent_port.h's.
//
// With a back end (hw/engine/persistent_back_end.h) all that happens to the memory happens there too.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "hw/contract/gen/capabilities.h"
#include "hw/engine/persistent_back_end.h"
#include "hw/engine/variable_table.h"
#include "hw/model/byte_set.h"
#include "hw/model/ecc.h"
#include "hw/timing/table_cycles.h"

namespace npu::model {

class PersistentSram {
 public:
  using Power = contract::PsramPower;
  using Job = engine::VariableTable::Job;

  explicit PersistentSram(const contract::Capabilities& caps,
                          std::unique_ptr<engine::PersistentBackEnd> back_end = nullptr);
  PersistentSram(const PersistentSram&) = delete;
  PersistentSram& operator=(const PersistentSram&) = delete;

  // Called with its code while the back end has failed, after each request: the job has to stop.
  void on_failure(std::function<void(contract::ErrorCode)> failed) { failed_ = std::move(failed); }

  // What an operation on the table comes to: ok, what is wrong with the variable, or fault_ecc of a table entry.
  struct Verdict {
    contract::ErrorCode error = contract::ErrorCode::kOk;
    uint32_t entry = 0;
    [[nodiscard]] bool ok() const { return error == contract::ErrorCode::kOk; }
  };
  // Those that follow are of this job. Marks of executions that can no longer be compared with it lose their meaning,
  // in these rows of the table.
  struct Begun {
    Verdict verdict;
    std::vector<uint32_t> cleared;
  };
  Begun begin_job(const Job& job);
  // VARIABLE: power_lost until the loss of the contents is acknowledged, else errors as of VariableTable::check_entry,
  // and fault_access_right for a variable whose bytes are not its own. `fits`: the variable does not reach beyond DRAM,
  // whose size the table does not know.
  [[nodiscard]] Verdict declare(uint32_t index, uint32_t hash, bool fits);
  // A declaration has compared its place with those of all others, and no entry has been written since.
  [[nodiscard]] bool compared(uint32_t index) const { return index < compared_.size() && compared_[index]; }
  // May this job use bytes [low, high) of the variable? May it read them? It begins to write them: this is marked.
  [[nodiscard]] Verdict check(uint32_t index, int64_t low, int64_t high);
  [[nodiscard]] Verdict check_read(uint32_t index, int64_t low, int64_t high);
  [[nodiscard]] Verdict begin_write(uint32_t index, int64_t low, int64_t high);
  // The write is complete.
  [[nodiscard]] Verdict commit_write(uint32_t index);

  // A cold reset: on, everything 0 and right, nothing lost, nothing counted.
  void reset();
  // True when it has to clear itself, because it was off.
  bool set_power(Power power);
  [[nodiscard]] Power power() const { return power_; }
  [[nodiscard]] bool on() const { return power_ == Power::kOn; }
  // `lost`: it was off since the last acknowledge_loss().
  [[nodiscard]] engine::PersistentStatus status();
  void acknowledge_loss();

  [[nodiscard]] std::span<uint8_t> bytes() { return bytes_; }
  [[nodiscard]] std::span<const uint8_t> bytes() const { return bytes_; }
  [[nodiscard]] const engine::VariableTable& table() const { return table_; }

  // Error correction. Each is asked before the bytes are used, and answers with what cannot be read: the first byte of
  // a word.
  [[nodiscard]] const Ecc& ecc() const { return ecc_; }
  [[nodiscard]] std::optional<uint64_t> read(const ByteSet& bytes);
  [[nodiscard]] std::optional<uint64_t> read_edges(const ByteSet& bytes);
  // The bytes were written.
  void wrote(const ByteSet& bytes);
  // A command stopped while it wrote: they are as they are, and what was wrong is wrong still.
  void left(const ByteSet& bytes);
  void left(uint64_t low, uint64_t high);
  // Of the host, which may reach the table.
  [[nodiscard]] std::optional<uint64_t> host_read(uint64_t low, uint64_t high) { return read(low, high, true); }
  [[nodiscard]] std::optional<uint64_t> host_read_edges(uint64_t low, uint64_t high) {
    return read_edges(low, high, true);
  }
  void host_wrote(uint64_t low, uint64_t high) { wrote(low, high, true); }
  // By a debugger, which looks at no code.
  void debug_wrote(uint64_t low, uint64_t high);
  // A part of one word gets a new value, whatever the word holds: what was wrong there and in the check bits is gone.
  void replace(uint64_t low, std::span<const uint8_t> value);
  // The host reaches for the memory while it is not on.
  void refuse(uint64_t address);
  void flip(uint64_t word, uint32_t bit);
  // Reads all words.
  void scrub();

 private:
  [[nodiscard]] std::optional<uint32_t> read_entries(uint64_t low, uint64_t high);
  [[nodiscard]] std::optional<uint32_t> read_row_of(uint32_t index);
  [[nodiscard]] Verdict use(uint32_t index, engine::VariableTable::Use use, int64_t low, int64_t high) const;
  [[nodiscard]] Verdict declaration(uint32_t index, uint32_t hash);
  [[nodiscard]] Verdict ask(const engine::TableRequest& request, const Verdict& own,
                            const timing::TableOperation& operation, uint64_t corrected = 0);
  // Rows of the table in [first, end) in which a bit is wrong.
  [[nodiscard]] std::vector<uint32_t> wrong_rows(uint32_t first, uint32_t end) const;
  [[nodiscard]] uint64_t corrected_by_declaration(uint32_t index) const;
  // The host writes bytes from here on: entries may have other places.
  void place(uint64_t low);
  [[nodiscard]] std::optional<uint64_t> read(uint64_t low, uint64_t high, bool host);
  [[nodiscard]] std::optional<uint64_t> read_edges(uint64_t low, uint64_t high, bool host);
  void wrote(uint64_t low, uint64_t high, bool host);
  // Nothing is done for the memory's own sake: no bit is wrong, and no back end looks.
  [[nodiscard]] bool idle() const { return back_end_ == nullptr && ecc_.clean(); }
  void look();
  void clear();

  const timing::TableAccesses accesses_;
  const uint32_t port_bytes_;
  std::vector<uint8_t> bytes_;
  Ecc ecc_;
  engine::VariableTable table_;
  std::vector<bool> compared_;  // of each entry
  std::unique_ptr<engine::PersistentBackEnd> back_end_;
  std::function<void(contract::ErrorCode)> failed_;
  Job job_;
  Power power_ = Power::kOn;
  bool lost_ = false;
  bool powerless_ = false;  // it was off since it was last on
};

}  // namespace npu::model
