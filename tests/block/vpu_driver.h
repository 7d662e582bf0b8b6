// SPDX-License-Identifier: Apache-2.0
// Runs tiles on the VPU's RTL against a memory, as its tests do.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "hw/contract/gen/capabilities.h"
#include "hw/contract/gen/commands.h"
#include "hw/timing/port_watch.h"
#include "rtl/verilated/vpu.h"
#include "sim/cosim/rtl_ports.h"
#include "tests/block/stream.h"

namespace npu::rtl::test {

// How willing memory is, port by port.
struct VpuGates {
  Throttle parameters{0, 100}, reads{0, 100}, writes{0, 100};
  Throttle& of(const Vpu::Parameters&) { return parameters; }
  Throttle& of(const Vpu::Read&) { return reads; }
  Throttle& of(const Vpu::Write&) { return writes; }
};

// A memory that counts accesses outside of itself instead of making them. `bases`: where each operand is.
class VpuMemory {
 public:
  VpuMemory(std::vector<uint8_t>& bytes, std::vector<uint32_t> bases) : bytes_(bytes), bases_(std::move(bases)) {}

  void serve(const Vpu::Parameters& request) {
    const int64_t begin = int64_t{bases_.at(request.operand)} + request.offset;
    if (inside(begin, request.bytes)) fetch(request, bytes_.data() + bases_[request.operand]);
  }
  void serve(const Vpu::Read& request) {
    if (request.lanes == 0) ++without_lanes_;
    if (inside(request)) fetch(request, bytes_.data() + bases_[request.operand]);
  }
  void serve(const Vpu::Write& request) {
    if (inside(request)) store(request, bytes_.data() + bases_[request.operand]);
  }
  [[nodiscard]] uint64_t outside() const { return outside_; }
  [[nodiscard]] uint64_t without_lanes() const { return without_lanes_; }  // reads of nothing

 private:
  template <class Request>
  bool inside(const Request& request) {
    for (uint32_t lane = 0; lane < 64; ++lane) {
      if ((request.lanes >> lane & 1) == 0) continue;
      const int64_t begin = int64_t{bases_.at(request.operand)} + static_cast<int32_t>(request.offsets[lane]);
      if (!inside(begin, request.element_bytes)) return false;
    }
    return true;
  }
  bool inside(int64_t begin, int64_t count) {
    const bool fits = begin >= 0 && begin + count <= static_cast<int64_t>(bytes_.size());
    outside_ += fits ? 0 : 1;
    return fits;
  }

  std::vector<uint8_t>& bytes_;
  std::vector<uint32_t> bases_;
  uint64_t outside_ = 0, without_lanes_ = 0;
};

inline std::vector<uint32_t> bases_of(const contract::VpuEwiseCommand& command) {
  std::vector<uint32_t> bases;
  for (const contract::Operand& operand : command.operands) bases.push_back(operand.base.offset);
  return bases;
}

// Cycles from the start to the end; 0 when the block does not end within `limit`.
template <class Command>
uint64_t run_vpu(Vpu& block, const Command& command, VpuMemory& memory, VpuGates& gates, uint64_t limit,
                 timing::PortWatch* watch = nullptr) {
  block.start(command);
  block.tick();
  uint32_t* data = nullptr;  // of reads
  for (uint64_t cycles = 1; cycles <= limit; ++cycles) {
    // Nothing but the bytes of a request that is granted means anything.
    const auto scramble = [&] {
      if (data != nullptr) std::fill(data, data + block.lanes(), 0x9e3779b9u * static_cast<uint32_t>(cycles));
    };
    timing::Ports asked = 0, granted = 0;
    handshake(block, [&](const auto& request) {
      if constexpr (std::is_same_v<decltype(request), const Vpu::Read&>) {
        data = request.data;
        scramble();
      }
      const timing::Ports port = cosim::port_of(request);
      asked |= port;
      if (!gates.of(request).next()) return false;
      memory.serve(request);
      granted |= port;
      return true;
    });
    if ((asked & timing::kVpuRead) == 0) scramble();
    block.tick();
    if (watch != nullptr) watch->see(asked, granted, block.done());
    if (block.done()) return cycles;
  }
  return 0;
}

}  // namespace npu::rtl::test
