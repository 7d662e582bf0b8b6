// SPDX-License-Identifier: Apache-2.0
// What computes a persistent SRAM beside the model's: the seam between the model (hw/model), which calls it, and back
// ends that clock RTL (sim/cosim). Plain C++, no SystemC, and no simulated time: the device's cycles are the model's.
//
// The model keeps an image, the bytes as they are meant. It decides first, with its marks in the image, then asks the
// back end with what it decided, and goes on with the answer. A back end answers as the model says it should, or with
// what it computed itself; then it also puts the bytes into the image that it read.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "hw/contract/gen/commands.h"
#include "hw/contract/gen/errors.h"
#include "hw/engine/variable_table.h"

namespace npu::engine {

enum class TableOp : uint8_t { kBeginJob, kDeclare, kCheck, kCheckRead, kWriteBegin, kCommit };

// An operation on the variable table.
struct TableRequest {
  TableOp op = TableOp::kBeginJob;
  uint32_t index = 0;
  uint32_t hash = 0;            // of a declaration
  int64_t low = 0, high = 0;    // bytes [low, high) of the variable, of a check or a write that begins
  VariableTable::Job job = {};  // that begins
};
struct TableAnswer {
  contract::ErrorCode error = contract::ErrorCode::kOk;
  uint32_t entry = 0;   // of fault_ecc
  uint64_t cycles = 0;  // without error, while the memory has no other users: hw/timing/table_cycles.h
};

// A word of 8 bytes with wrong stored bits.
struct WrongWord {
  uint64_t word = 0;  // its number
  uint64_t data = 0;  // bits that are wrong
  uint8_t check = 0;
};

// What the memory shows of itself.
struct PersistentStatus {
  bool lost = false;
  uint32_t corrected = 0;  // wrong bits put right since the reset
};

class PersistentBackEnd {
 public:
  virtual ~PersistentBackEnd() = default;
  // Before all else, once, of a memory out of reset; the image outlives the back end's last call.
  virtual void connect(std::span<uint8_t> image) = 0;

  virtual void reset() = 0;
  virtual void set_power(contract::PsramPower power) = 0;
  virtual void acknowledge_loss() = 0;
  // A stored bit turns around: 0 to 63 the word's data, then its check bits.
  virtual void flip(uint64_t word, uint32_t bit) = 0;

  [[nodiscard]] virtual TableAnswer operate(const TableRequest& request, const TableAnswer& model) = 0;
  // Bytes [low, high) are read by the host, which may reach the table, or by a command. `wrong` and the result: the
  // first byte of the first word with two wrong bits, at which reading stops.
  [[nodiscard]] virtual std::optional<uint64_t> read(uint64_t low, uint64_t high, bool host,
                                                     std::optional<uint64_t> wrong) = 0;
  // The image has new bytes in [low, high); the words that keep some of theirs are right.
  virtual void write(uint64_t low, uint64_t high, bool host) = 0;
  // The words around [low, high) become what the image has, with these wrong bits, whatever they were.
  virtual void put(uint64_t low, uint64_t high, std::span<const WrongWord> wrong) = 0;
  // All words are read: as many as `uncorrectable` have two wrong bits.
  virtual void scrub(uint32_t uncorrectable) = 0;
  // The host reaches for the memory, which is not on.
  virtual void refuse(uint64_t address) = 0;
  [[nodiscard]] virtual PersistentStatus status(const PersistentStatus& model) = 0;

  // Once it is another code than ok, the job has to stop, and those to come.
  [[nodiscard]] virtual contract::ErrorCode failure() const = 0;
};

// Makes one for a device; empty, or null: the model alone.
using MakePersistentBackEnd = std::function<std::unique_ptr<PersistentBackEnd>()>;

}  // namespace npu::engine
