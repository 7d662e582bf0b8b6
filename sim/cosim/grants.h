// SPDX-License-Identifier: Apache-2.0
// What memory lets through: a trace of grants for the ports of an engine, the same for the same seed.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "hw/timing/ports.h"

namespace npu::cosim {

class Grants {
 public:
  // Every request in its cycle.
  Grants() = default;
  // Port i in `percent[i]` of 100 cycles, at random.
  Grants(uint64_t seed, const std::array<uint8_t, timing::kMostPorts>& percent)
      : kind_(Kind::kRandom), random_(seed), percent_(percent) {}
  // These, cycle by cycle; every request behind the last of them.
  explicit Grants(std::vector<timing::Ports> trace)
      : kind_(Kind::kTrace), trace_(std::make_shared<const std::vector<timing::Ports>>(std::move(trace))) {}

  // A multiple of a tile's cycles within which it must have ended.
  [[nodiscard]] uint64_t patience() const { return kind_ == Kind::kOpen ? 4 : 400; }

  // Ports that are served in the next cycle if they ask.
  timing::Ports next() {
    switch (kind_) {
      case Kind::kTrace:
        return at_ < trace_->size() ? (*trace_)[at_++] : timing::kAllPorts;
      case Kind::kRandom:
        return draw();
      case Kind::kOpen:
        break;
    }
    return timing::kAllPorts;
  }

 private:
  enum class Kind : uint8_t { kOpen, kRandom, kTrace };

  timing::Ports draw() {
    timing::Ports ports = 0;
    uint64_t draw = 0;
    for (uint32_t port = 0; port < timing::kMostPorts; ++port, draw >>= 16) {
      if (port % 4 == 0) draw = random_();  // 16 bits a port
      if ((draw & 0xffff) * 100 < uint64_t{percent_[port]} << 16) ports |= 1u << port;
    }
    return ports;
  }

  Kind kind_ = Kind::kOpen;
  std::mt19937_64 random_;
  std::array<uint8_t, timing::kMostPorts> percent_{};
  std::shared_ptr<const std::vector<timing::Ports>> trace_;
  size_t at_ = 0;
};

}  // namespace npu::cosim
