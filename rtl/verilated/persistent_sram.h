// SPDX-License-Identifier: Apache-2.0
// The RTL of the persistent SRAM (rtl/blocks/persistent_sram), clock by clock.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "hw/contract/gen/errors.h"

namespace npu::rtl {

class PersistentSram {
 public:
  struct Sizes {
    uint32_t bytes, port_bytes, entries;
  };
  enum class Power : uint8_t { kOff, kRetention, kOn };
  struct Access {
    bool write = false;
    bool privileged = false;        // may reach the table
    uint32_t address = 0;           // of a row of port_bytes
    uint32_t strobe = 0;            // bytes meant
    std::span<const uint8_t> data;  // port_bytes, of a write
  };
  enum class Op : uint8_t { kBeginJob, kDeclare, kCheck, kCheckRead, kCommit, kWriteBegin };
  struct Operation {
    Op op = Op::kBeginJob;
    uint32_t index = 0;
    uint32_t hash = 0;
    int64_t low = 0, high = 0;  // bytes [low, high) of the variable; 40 bits
    uint16_t owner = 0;         // of the job that begins
    uint8_t epoch = 0;
  };

  // Where the bytes lie that an access to a variable uses.
  struct Place {
    bool in_dram = false;
    uint64_t base = 0;  // bytes; in DRAM units of kVariableDramUnit
  };

  // From an access to its answer.
  static constexpr unsigned kLatency = 2;

  virtual ~PersistentSram() = default;
  [[nodiscard]] virtual const Sizes& sizes() const = 0;
  virtual void reset() = 0;
  virtual void set_power(Power power) = 0;  // while nothing is under way
  [[nodiscard]] virtual bool lost() const = 0;
  virtual void clear_lost(bool clear) = 0;
  [[nodiscard]] virtual uint32_t corrected() const = 0;

  // Ports: what is offered until it is withdrawn, and whether the block takes it in this cycle.
  virtual void inject(uint32_t row, uint32_t lane, uint64_t data_flips, uint8_t check_flips) = 0;
  virtual void withdraw_injection() = 0;
  [[nodiscard]] virtual bool injection_taken() = 0;

  virtual void access(const Access& access) = 0;
  virtual void withdraw_access() = 0;
  [[nodiscard]] virtual bool access_taken() = 0;
  [[nodiscard]] virtual bool answered() const = 0;
  [[nodiscard]] virtual contract::ErrorCode answer_error() const = 0;
  [[nodiscard]] virtual uint32_t answer_failed() const = 0;  // words of 8 bytes with two wrong bits, one bit each
  [[nodiscard]] virtual std::span<const uint8_t> answer() const = 0;

  virtual void operate(const Operation& operation) = 0;
  virtual void withdraw_operation() = 0;
  [[nodiscard]] virtual bool operation_taken() = 0;
  [[nodiscard]] virtual bool operation_done() const = 0;
  [[nodiscard]] virtual contract::ErrorCode operation_error() const = 0;
  [[nodiscard]] virtual uint32_t operation_entry() const = 0;  // of the table, that has two wrong bits
  [[nodiscard]] virtual Place operation_place() const = 0;

  virtual void tick() = 0;
};

// `machine` is the name of one whose RTL was built. Throws npu::Error (bad_preset) for others.
[[nodiscard]] std::unique_ptr<PersistentSram> make_persistent_sram(std::string_view machine);

}  // namespace npu::rtl
