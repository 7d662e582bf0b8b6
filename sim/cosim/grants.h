// SPDX-License-Identifier: Apache-2.0
// What memory lets through: a trace of grants for the ports of an engine, the same for the same seed.
#pragma once

#include <array>
#include <cstdint>
#include <random>

#include "hw/timing/ports.h"

namespace npu::cosim {

class Grants {
 public:
  // Every request in its cycle.
  Grants() = default;
  // Port i in `percent[i]` of 100 cycles, at random.
  Grants(uint64_t seed, const std::array<uint8_t, timing::kMostPorts>& percent)
      : random_(seed), percent_(percent), open_(false) {}

  [[nodiscard]] bool open() const { return open_; }

  // Ports that are served in the next cycle if they ask.
  timing::Ports next() {
    if (open_) return timing::kAllPorts;
    timing::Ports ports = 0;
    uint64_t draw = random_();
    for (uint32_t port = 0; port < timing::kMostPorts; ++port, draw >>= 16) {
      if ((draw & 0xffff) * 100 < uint64_t{percent_[port]} << 16) ports |= 1u << port;
    }
    return ports;
  }

 private:
  std::mt19937_64 random_;
  std::array<uint8_t, timing::kMostPorts> percent_{};
  bool open_ = true;
};

}  // namespace npu::cosim
