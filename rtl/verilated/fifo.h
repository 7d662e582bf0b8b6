// SPDX-License-Identifier: Apache-2.0
// The RTL of the cell npu_fifo (rtl/lib), clock by clock, for its test.
#pragma once

#include <cstdint>
#include <memory>

namespace npu::rtl {

class Fifo {
 public:
  static constexpr unsigned kDepth = 5;  // entries of 8 bits

  virtual ~Fifo() = default;
  virtual void reset() = 0;
  // What both sides do in this cycle: an entry that is offered, and whether one is taken.
  virtual void set_input(bool valid, uint8_t data) = 0;
  virtual void set_ready(bool ready) = 0;
  [[nodiscard]] virtual bool ready() = 0;  // has room
  [[nodiscard]] virtual bool valid() = 0;  // has an entry, data()
  [[nodiscard]] virtual uint8_t data() = 0;
  virtual void tick() = 0;
};

[[nodiscard]] std::unique_ptr<Fifo> make_fifo();

}  // namespace npu::rtl
