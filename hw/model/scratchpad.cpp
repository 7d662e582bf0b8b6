// SPDX-License-Identifier: Apache-2.0
#include "hw/model/scratchpad.h"

#include <algorithm>
#include <cstring>

namespace npu::model {

Scratchpad::Scratchpad(const contract::Capabilities& caps, bool poison)
    : bytes_(caps.spm_bytes, poison ? kPoison : 0), poison_(poison), touched_((caps.spm_bytes + kPage - 1) / kPage) {}

void Scratchpad::poison(uint64_t base, uint64_t limit) {
  if (!poison_) return;
  const uint64_t size = bytes_.size(), from = std::min(base, size);
  const uint64_t end = (from + std::min(limit, size - from) + kPage - 1) / kPage;
  for (uint64_t page = base / kPage; page < end; ++page) {
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
