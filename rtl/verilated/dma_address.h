// SPDX-License-Identifier: Apache-2.0
// The RTL of the DMA's address generator (rtl/blocks/dma_address), clock by clock.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "hw/contract/gen/commands.h"

namespace npu::rtl {

class DmaAddress {
 public:
  struct Beat {
    uint64_t address = 0;
    uint32_t bytes = 0;
    bool last = false;
    const uint8_t* fill = nullptr;  // the bytes, of a fill's destination; until the next tick
  };

  struct Wrong {
    uint32_t place = 0;  // among the indices
    uint32_t value = 0;
  };

  // From the start of a command to the first beat.
  static constexpr unsigned kLatency = 3;

  virtual ~DmaAddress() = default;
  [[nodiscard]] virtual uint32_t port_bytes() const = 0;
  virtual void reset() = 0;
  // A command is started in the next cycle; the block must be idle. Bases are addresses of the first runs, and of
  // the first index, 40 bits.
  virtual void start(const contract::DmaCommand& command, uint64_t src_base, uint64_t dst_base,
                     uint64_t index_base) = 0;
  [[nodiscard]] virtual bool idle() = 0;
  // The beats offered in this cycle; false when there is none.
  [[nodiscard]] virtual bool source(Beat& beat) = 0;
  [[nodiscard]] virtual bool destination(Beat& beat) = 0;
  // They are taken at the next tick, or not.
  virtual void set_ready(bool source, bool destination) = 0;
  // The beat of indices wanted in this cycle; false when there is none.
  [[nodiscard]] virtual bool indices(Beat& beat) = 0;
  // Its bytes are there at the next tick; none: not yet.
  virtual void answer(std::span<const uint8_t> data) = 0;
  // An index chooses no row, and the command ends.
  [[nodiscard]] virtual bool wrong(Wrong& wrong) = 0;
  virtual void tick() = 0;
};

// `machine` is the name of one whose RTL was built. Throws npu::Error (bad_preset) for others.
[[nodiscard]] std::unique_ptr<DmaAddress> make_dma_address(std::string_view machine);

}  // namespace npu::rtl
