// SPDX-License-Identifier: Apache-2.0
#include "sim/cosim/persistent_block.h"

#include <fmt/format.h>

#include "hw/contract/error.h"

namespace npu::cosim {

using contract::ErrorCode;
using rtl::PersistentSram;

// Ticks until it is ready. Returns in how many cycles it was not.
template <class Ready>
uint64_t PersistentBlock::wait_for(Ready&& ready, const char* what) {
  // The longest that it takes: all rows are cleared, or an operation reads and writes all rows of the table.
  const uint64_t patience = 16 * uint64_t{rows()} + 1'000;
  for (uint64_t waited = 0; waited < patience; ++waited) {
    if (ready()) return waited;
    block_->tick();
  }
  throw Error(ErrorCode::kBug, fmt::format("the RTL has not {} after {} cycles", what, patience));
}

// Cycles before the first access is taken; this one looks at nothing.
uint64_t PersistentBlock::clear() {
  block_->access({false, true, 0, 0, {}});
  const uint64_t cycles = wait_for([&] { return block_->access_taken(); }, "cleared itself");
  block_->tick();
  block_->withdraw_access();
  for (unsigned i = 1; i < PersistentSram::kLatency; ++i) block_->tick();
  return cycles;
}

uint64_t PersistentBlock::reset() {
  block_->reset();
  powerless_ = false;
  return clear();
}

uint64_t PersistentBlock::set_power(Power power) {
  for (unsigned i = 0; i < PersistentSram::kLatency; ++i) block_->tick();  // what is late of the last access
  block_->set_power(power);
  if (power == Power::kOff) powerless_ = true;
  block_->tick();  // nothing may be asked for in the cycle of the change
  if (power != Power::kOn || !powerless_) return 0;
  powerless_ = false;
  return 1 + clear();
}

void PersistentBlock::acknowledge_loss() {
  block_->clear_lost(true);
  block_->tick();
  block_->clear_lost(false);
}

void PersistentBlock::inject(uint32_t row, uint32_t lane, uint64_t data_flips, uint8_t check_flips) {
  block_->inject(row, lane, data_flips, check_flips);
  (void)wait_for([&] { return block_->injection_taken(); }, "taken flipped bits");
  block_->tick();
  block_->withdraw_injection();
  block_->tick();
}

PersistentBlock::Answer PersistentBlock::access(const PersistentSram::Access& access) {
  block_->access(access);
  (void)wait_for([&] { return block_->access_taken(); }, "taken an access");
  block_->tick();
  block_->withdraw_access();
  for (unsigned i = 1; i < PersistentSram::kLatency; ++i) block_->tick();
  if (!block_->answered()) {
    throw Error(ErrorCode::kBug, fmt::format("the RTL does not answer after {} cycles", PersistentSram::kLatency));
  }
  return {block_->answer_error(), block_->answer_failed(), block_->answer()};
}

PersistentBlock::End PersistentBlock::operate(const PersistentSram::Operation& operation) {
  block_->operate(operation);
  (void)wait_for([&] { return block_->operation_taken(); }, "taken an operation");
  block_->tick();
  block_->withdraw_operation();
  const uint64_t cycles = 1 + wait_for([&] { return block_->operation_done(); }, "ended an operation");
  const End end = {block_->operation_error(), block_->operation_entry(), block_->operation_place(), cycles};
  block_->tick();
  return end;
}

}  // namespace npu::cosim
