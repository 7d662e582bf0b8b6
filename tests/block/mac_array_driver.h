// SPDX-License-Identifier: Apache-2.0
// Runs tiles on the MXU's RTL against a memory, as its tests do.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "hw/contract/gen/commands.h"
#include "hw/timing/port_watch.h"
#include "rtl/verilated/mac_array.h"
#include "sim/cosim/rtl_ports.h"
#include "tests/block/stream.h"

namespace npu::rtl::test {

// How willing memory is, port by port: in a share of all requests, and of those none in stretches of up to `longest`.
class MacArrayGate {
 public:
  MacArrayGate() = default;
  MacArrayGate(uint64_t seed, unsigned percent, uint64_t longest)
      : random_(seed), each_(seed, percent), longest_(longest) {}
  bool next() {
    if (longest_ > 0 && left_-- == 0) {
      shut_ = !shut_;
      left_ = random_() % longest_;
    }
    return each_.next() && !shut_;
  }

 private:
  std::mt19937_64 random_;
  Throttle each_{0, 100};
  uint64_t longest_ = 0, left_ = 0;
  bool shut_ = false;
};
struct MacArrayGates {
  MacArrayGate activations, weights, parameters, results, residual;
  MacArrayGate& of(const MacArray::Activations&) { return activations; }
  MacArrayGate& of(const MacArray::Weights&) { return weights; }
  MacArrayGate& of(const MacArray::Parameters&) { return parameters; }
  MacArrayGate& of(const MacArray::Results&) { return results; }
  MacArrayGate& of(const MacArray::Residual&) { return residual; }
};

// A memory that counts accesses outside of itself instead of making them.
class MacArrayMemory {
 public:
  MacArrayMemory(std::vector<uint8_t>& bytes, const contract::MxuCommand& command) : bytes_(bytes), command_(command) {}

  void serve(const MacArray::Activations& request) {
    bool inside = true;
    request.each([&](uint32_t, uint32_t, int32_t offset) {
      inside = inside && holds(command_.src, offset, request.elements * request.element_bytes);
    });
    if (inside) fetch(request, at(command_.src));
  }
  void serve(const MacArray::Weights& request) {
    const int64_t columns = int64_t{request.columns - 1} * request.column_stride;
    const int64_t elements = int64_t{request.elements - 1} * request.element_stride;
    if (!holds(command_.weights, request.offset, 1)) return;
    if (holds(command_.weights, request.offset + columns + elements, request.element_bytes)) {
      fetch(request, at(command_.weights));
    }
  }
  void serve(const MacArray::Parameters& request) {
    if (holds(command_.params, request.offset, request.bytes)) fetch(request, at(command_.params));
  }
  void serve(const MacArray::Residual& request) {
    if (holds(command_.residual_src, request.offset, request.columns * request.element_bytes)) {
      fetch(request, at(command_.residual_src));
    }
  }
  void serve(const MacArray::Results& request) {
    if (holds(command_.dst, request.offset, request.columns * request.element_bytes)) store(request, at(command_.dst));
  }
  [[nodiscard]] uint64_t outside() const { return outside_; }

 private:
  uint8_t* at(const contract::Address& address) { return bytes_.data() + address.offset; }
  bool holds(const contract::Address& address, int64_t offset, int64_t count) {
    const int64_t begin = int64_t{address.offset} + offset;
    const bool inside = begin >= 0 && begin + count <= static_cast<int64_t>(bytes_.size());
    outside_ += inside ? 0 : 1;
    return inside;
  }

  std::vector<uint8_t>& bytes_;
  const contract::MxuCommand& command_;
  uint64_t outside_ = 0;
};

// Cycles from the start to the last result; 0 when the block does not end.
inline uint64_t run_mac_array(MacArray& block, const contract::MxuCommand& command, MacArrayMemory& memory,
                              MacArrayGates& gates, timing::PortWatch& watch, uint64_t limit) {
  block.start(command);
  block.tick();
  for (uint64_t cycle = 1; cycle <= limit; ++cycle) {
    timing::Ports asked = 0, granted = 0;
    handshake(block, [&](const auto& request) {
      const timing::Ports port = cosim::port_of(request);
      asked |= port;
      if (!gates.of(request).next()) return false;
      memory.serve(request);
      granted |= port;
      return true;
    });
    block.tick();
    watch.see(asked, granted, block.done());
    if (block.done()) return cycle;
  }
  return 0;
}

}  // namespace npu::rtl::test
