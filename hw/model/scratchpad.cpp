// SPDX-License-Identifier: Apache-2.0
#include "hw/model/scratchpad.h"

#include <algorithm>
#include <cstring>

namespace npu::model {

Scratchpad::Scratchpad(const contract::Capabilities& caps, bool poison)
    : bytes_(caps.spm_bytes, poison ? kPoison : 0), poison_(poison), touched_((caps.spm_bytes + kPage - 1) / kPage) {}

void Scratchpad::begin_job(bool keep) {
  if (!poison_ || keep) return;
  for (uint64_t page = 0; page < touched_.size(); ++page) {
    if (!touched_[page]) continue;
    touched_[page] = false;
    const uint64_t low = page * kPage;
    std::memset(bytes_.data() + low, kPoison, std::min(kPage, bytes_.size() - low));
  }
}

void Scratchpad::lose() {
  std::fill(bytes_.begin(), bytes_.end(), kPoison);
  touched_.assign(touched_.size(), false);
}

void Scratchpad::touch(uint64_t low, uint64_t high) {
  for (uint64_t page = low / kPage; page * kPage < high; ++page) touched_[page] = true;
}

}  // namespace npu::model
