// SPDX-License-Identifier: Apache-2.0
// Clocks the RTL of a persistent SRAM, one request after the other, each to its end.
//
// All throw npu::Error (bug) for a block that breaks an assertion of its own, does not get on, or answers in another
// cycle than its README says. It must not be used any more then.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "rtl/verilated/persistent_sram.h"

namespace npu::cosim {

class PersistentBlock {
 public:
  using Power = rtl::PersistentSram::Power;

  struct Answer {
    contract::ErrorCode error = contract::ErrorCode::kOk;
    uint32_t failed = 0;            // words of 8 bytes with two wrong bits, one bit each
    std::span<const uint8_t> data;  // of the row, until the next request
  };
  struct End {
    contract::ErrorCode error = contract::ErrorCode::kOk;
    uint32_t entry = 0;  // of fault_ecc
    rtl::PersistentSram::Place place;
    uint64_t cycles = 0;  // from the cycle in which it was taken
  };

  explicit PersistentBlock(std::unique_ptr<rtl::PersistentSram> block) : block_(std::move(block)) {}

  [[nodiscard]] const rtl::PersistentSram::Sizes& sizes() const { return block_->sizes(); }
  // Each returns the cycles in which the memory clears itself, which go by; 0: it need not.
  uint64_t reset();
  uint64_t set_power(Power power);

  void acknowledge_loss();
  // Flips stored bits of a row's word; while power is on.
  void inject(uint32_t row, uint32_t lane, uint64_t data_flips, uint8_t check_flips);
  [[nodiscard]] Answer access(const rtl::PersistentSram::Access& access);
  [[nodiscard]] End operate(const rtl::PersistentSram::Operation& operation);

  [[nodiscard]] bool lost() const { return block_->lost(); }
  [[nodiscard]] uint32_t corrected() const { return block_->corrected(); }

 private:
  template <class Ready>
  uint64_t wait_for(Ready&& ready, const char* what);
  uint64_t clear();
  [[nodiscard]] uint32_t rows() const { return sizes().bytes / sizes().port_bytes; }

  std::unique_ptr<rtl::PersistentSram> block_;
  bool powerless_ = false;  // it was off since it was last on
};

}  // namespace npu::cosim
