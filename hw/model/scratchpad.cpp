// SPDX-License-Identifier: Apache-2.0
#include "hw/model/scratchpad.h"

#include <algorithm>
#include <bit>

namespace npu::model {

Scratchpad::Scratchpad(const contract::Capabilities& caps, bool poison)
    : bytes_(caps.spm_bytes, poison ? kPoison : 0),
      bank_shift_(static_cast<uint32_t>(std::countr_zero(caps.spm_bank_bytes))),
      poison_(poison),
      touched_low_(caps.spm_bytes),
      touched_high_(0),
      banks_(caps.spm_banks) {}

void Scratchpad::begin_job(bool keep) {
  banks_.begin_job();
  if (!poison_ || keep) return;
  if (touched_low_ < touched_high_) {
    std::fill(bytes_.begin() + static_cast<int64_t>(touched_low_), bytes_.begin() + static_cast<int64_t>(touched_high_),
              kPoison);
  }
  touched_low_ = bytes_.size();
  touched_high_ = 0;
}

void Scratchpad::lose() {
  std::fill(bytes_.begin(), bytes_.end(), kPoison);
  touched_low_ = bytes_.size();
  touched_high_ = 0;
}

void Scratchpad::touch(uint64_t low, uint64_t high) {
  touched_low_ = std::min(touched_low_, low);
  touched_high_ = std::max(touched_high_, high);
}

void Scratchpad::count(uint64_t address, uint64_t bytes, uint64_t repeats, std::span<uint32_t> accesses) const {
  const uint64_t mask = accesses.size() - 1;
  const uint64_t last = (address + bytes - 1) >> bank_shift_;
  for (uint64_t word = address >> bank_shift_; word <= last; ++word) {
    accesses[word & mask] += static_cast<uint32_t>(repeats);
  }
}

}  // namespace npu::model
