// SPDX-License-Identifier: Apache-2.0
#include "hw/model/scratchpad.h"

#include <algorithm>

namespace npu::model {

Scratchpad::Scratchpad(const contract::Capabilities& caps, bool poison)
    : bytes_(caps.spm_bytes, poison ? kPoison : 0), poison_(poison), touched_low_(caps.spm_bytes), touched_high_(0) {}

void Scratchpad::begin_job(bool keep) {
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

}  // namespace npu::model
