// SPDX-License-Identifier: Apache-2.0
// Commands of any size, more than can be run to the end: their first cycles, against lists of the requests that must
// come and the schedule of the ports.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "hw/timing/port_watch.h"
#include "sim/cosim/random.h"
#include "tests/block/stream.h"

namespace npu::rtl::test {

using cosim::Random;

// 1 or more, of a random number of bits up to `most_bits`.
inline uint32_t any_size(Random& random, unsigned most_bits) {
  const auto bits = static_cast<unsigned>(random.between(0, most_bits));
  const uint64_t top = uint64_t{1} << bits >> 1;
  return static_cast<uint32_t>(std::max<uint64_t>(1, top | (random.bits() & (top - (top > 0 ? 1 : 0)))));
}

// Sizes of up to so many bits each, whose product has at most `bits` bits.
inline std::vector<uint32_t> any_sizes(Random& random, unsigned bits, std::initializer_list<unsigned> most_bits) {
  std::vector<uint32_t> sizes(most_bits.size());
  const auto first = static_cast<size_t>(random.between(0, static_cast<int64_t>(sizes.size()) - 1));
  for (size_t i = 0; i < sizes.size(); ++i) {
    const size_t at = (first + i) % sizes.size();
    sizes[at] = any_size(random, std::min(bits, most_bits.begin()[at]));
    bits -= std::min(bits, static_cast<unsigned>(std::bit_width(sizes[at])));
  }
  return sizes;
}

// Of `count` positions, one apart from the next: the last one is likely below 2^31.
inline uint32_t any_step(Random& random, uint32_t count) {
  const auto bits = static_cast<unsigned>(std::bit_width(count - 1));
  return any_size(random, std::min(16u, 31 - std::min(31u, bits)));
}
// The RTL counts rows and columns of the input with 32 bits; `reach`: of a window beyond its first position.
inline bool countable(uint32_t out, uint32_t stride, int32_t pad, int64_t reach) {
  return int64_t{out - 1} * stride + reach - pad <= INT32_MAX;
}

inline int32_t any_stride(Random& random) { return static_cast<int32_t>(random.bits()); }
inline int16_t any_pad(Random& random) { return static_cast<int16_t>(random.bits()); }

// The bytes of operands, at offsets (32 bits, two's complement) from each one's address.
struct Bytes {
  std::function<uint8_t(uint32_t operand, uint32_t offset)> read;
  std::function<void(uint32_t operand, uint32_t offset, uint8_t byte)> write;
};

// Has a byte at any address, made from it; takes any.
inline Bytes any_bytes() {
  const auto read = [](uint32_t operand, uint32_t offset) {
    return static_cast<uint8_t>(((uint64_t{operand} << 32 | offset) + 1) * 0x9e3779b97f4a7c15 >> 56);
  };
  return {read, [](uint32_t, uint32_t, uint8_t) {}};
}

// Those of a scratchpad; throws outside of it.
inline Bytes bytes_of(std::vector<uint8_t>& bytes, std::vector<uint32_t> bases) {
  const auto at = [&bytes, bases = std::move(bases)](uint32_t operand, uint32_t offset) -> uint8_t& {
    return bytes.at(static_cast<size_t>(int64_t{bases.at(operand)} + static_cast<int32_t>(offset)));
  };
  return {at, [at](uint32_t operand, uint32_t offset, uint8_t byte) { at(operand, offset) = byte; }};
}

// What is asked for: all numbers of it, in an order of the port's own.
using Request = std::vector<uint32_t>;
using PortRequests = std::array<std::vector<Request>, timing::kMostPorts>;  // the first ones of each port

// Sees every cycle of a tile.
class PortCheck {
 public:
  // Memory grants in so many of 100 cycles.
  PortCheck(std::unique_ptr<timing::PortSchedule> schedule, PortRequests wanted, Throttle memory, std::string text)
      : watch_(std::move(schedule)), wanted_(std::move(wanted)), memory_(memory), text_(std::move(text)) {}

  // A port asks in this cycle. True when it is granted.
  bool asks(timing::Ports port, const Request& request) {
    asked_ |= port;
    const auto index = static_cast<size_t>(std::countr_zero(port));
    const std::vector<Request>& wanted = wanted_[index];
    EXPECT_LT(taken_[index], wanted.size()) << "a request too many, port " << index << ", " << text_;
    if (taken_[index] >= wanted.size()) return false;
    EXPECT_EQ(request, wanted[taken_[index]]) << "request " << taken_[index] << " of port " << index << ", " << text_;
    ++requests_;
    if (!memory_.next()) return false;
    granted_ |= port;
    ++taken_[index];
    return true;
  }

  // Ends the cycle; `done`: and the tile.
  void end_cycle(bool done) {
    watch_.see(asked_, granted_, done);
    EXPECT_EQ(watch_.difference(), "") << text_;
    asked_ = granted_ = 0;
  }
  [[nodiscard]] uint64_t cycles() const { return watch_.cycles(); }
  [[nodiscard]] uint64_t requests() const { return requests_; }

 private:
  timing::PortWatch watch_;
  PortRequests wanted_;
  Throttle memory_;
  std::string text_;
  timing::Ports asked_ = 0, granted_ = 0;
  std::array<size_t, timing::kMostPorts> taken_{};
  uint64_t requests_ = 0;
};

}  // namespace npu::rtl::test
