// SPDX-License-Identifier: Apache-2.0
// The RTL of the output stage (rtl/blocks/rescale), clock by clock.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "hw/contract/gen/commands.h"

namespace npu::rtl {

class Rescale {
 public:
  // The same for all values in the pipeline.
  struct Config {
    contract::Rescale kind = contract::Rescale::kNone;
    bool wide = false;  // values of 48 bits, else of 32
    int32_t output_zp = 0, low = 0, high = 0, clamp_min = 0, clamp_max = 0;
  };
  struct Value {
    int64_t value = 0, offset = 0;  // 48 bits count
    int32_t multiplier = 0;
    uint32_t shift = 0;  // 6 bits count
  };

  // From the last value taken to its result.
  static constexpr unsigned kLatency = 5;

  virtual ~Rescale() = default;
  [[nodiscard]] virtual unsigned lanes() const = 0;
  virtual void reset() = 0;
  virtual void configure(const Config& config) = 0;
  virtual void set_value(unsigned lane, const Value& value) = 0;
  virtual void set_valid(bool valid) = 0;        // of the values set
  virtual void set_ready(bool ready) = 0;        // for results
  [[nodiscard]] virtual bool ready() = 0;        // for values, in this cycle
  [[nodiscard]] virtual bool valid() const = 0;  // of the results
  [[nodiscard]] virtual int64_t result(unsigned lane) const = 0;
  virtual void tick() = 0;
};

// `machine` is the name of one whose RTL was built. Throws npu::Error (bad_preset) for others.
[[nodiscard]] std::unique_ptr<Rescale> make_rescale(std::string_view machine);

}  // namespace npu::rtl
