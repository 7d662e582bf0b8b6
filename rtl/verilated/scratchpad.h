// SPDX-License-Identifier: Apache-2.0
// The RTL of the scratchpad (rtl/blocks/scratchpad), clock by clock.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace npu::rtl {

class Scratchpad {
 public:
  struct Sizes {
    uint32_t bytes, banks, bank_bytes, requesters;
  };

  virtual ~Scratchpad() = default;
  [[nodiscard]] virtual const Sizes& sizes() const = 0;
  virtual void reset() = 0;
  // What a requester asks for, until it is withdrawn. `word` counts in bank_bytes; a write takes the bytes of `data`
  // (bank_bytes of them) whose bit in `strobe` is set.
  virtual void read(uint32_t requester, uint32_t word) = 0;
  virtual void write(uint32_t requester, uint32_t word, uint32_t strobe, std::span<const uint8_t> data) = 0;
  virtual void withdraw(uint32_t requester) = 0;
  // Is it granted in this cycle?
  [[nodiscard]] virtual bool granted(uint32_t requester) = 0;
  // Data of the read that was granted in the cycle before; empty when there was none.
  [[nodiscard]] virtual std::span<const uint8_t> answer(uint32_t requester) const = 0;
  virtual void tick() = 0;
};

// `machine` is the name of one whose RTL was built. Throws npu::Error (bad_preset) for others.
[[nodiscard]] std::unique_ptr<Scratchpad> make_scratchpad(std::string_view machine);

}  // namespace npu::rtl
