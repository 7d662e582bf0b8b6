// SPDX-License-Identifier: Apache-2.0
// When an engine asks for memory: the handshakes of its ports, cycle by cycle, for whatever memory grants. The formulas
// say how long a tile takes when every request is granted at once; this says it for every other trace of grants, too.
// Compared with RTL cycle by cycle, and played by the device.
#pragma once

#include <cstdint>

namespace npu::timing {

using Ports = uint32_t;  // a bit a port
inline constexpr uint32_t kMostPorts = 5;
inline constexpr Ports kAllPorts = (1u << kMostPorts) - 1;
inline constexpr Ports kDone = 1u << 31;  // instead of a port: the tile has ended

enum MxuPort : Ports { kMxuActivations = 1, kMxuWeights = 2, kMxuParameters = 4, kMxuResults = 8, kMxuResidual = 16 };
enum VpuPort : Ports { kVpuParameters = 1, kVpuRead = 2, kVpuWrite = 4 };

// One tile, from the cycle behind the one that takes its command.
class PortSchedule {
 public:
  virtual ~PortSchedule() = default;
  // Ports that ask in this cycle. A port that asks goes on asking until it is granted.
  [[nodiscard]] virtual Ports asking() const = 0;
  // Ends the cycle; `granted` is part of asking().
  virtual void step(Ports granted) = 0;
  // The tile ended with the last step.
  [[nodiscard]] virtual bool done() const = 0;
  // step(), and then asking(), or kDone.
  virtual Ports advance(Ports granted) = 0;

  // For who plays many cycles: so many steps that are granted all that they ask for leave asking() as it is, and do not
  // end the tile. There may be more.
  [[nodiscard]] virtual uint64_t steady() const { return 0; }
  // These steps at once, at most steady().
  virtual void skip(uint64_t /*cycles*/) {}
};

// Makes one call of the three for who plays many cycles.
template <class Schedule>
class SteppedSchedule : public PortSchedule {
 public:
  Ports advance(Ports granted) final {
    auto& schedule = static_cast<Schedule&>(*this);
    schedule.Schedule::step(granted);
    return schedule.Schedule::done() ? kDone : schedule.Schedule::asking();
  }
};

}  // namespace npu::timing
