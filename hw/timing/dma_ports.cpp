// SPDX-License-Identifier: Apache-2.0
#include "hw/timing/dma_ports.h"

#include "hw/timing/dma_cycles.h"

namespace npu::timing {

namespace {

constexpr uint64_t kBeforeFirstBeat = kDmaWalkCycles - 1;  // behind the cycle that takes the command

// Indices, if there are any; then each side walks for itself, a beat a cycle.
class DmaSchedule final : public SteppedSchedule<DmaSchedule> {
 public:
  DmaSchedule(uint64_t index_beats, uint64_t source_beats, uint64_t destination_beats)
      : indices_left_(index_beats), source_left_(source_beats), destination_left_(destination_beats) {}

  [[nodiscard]] Ports asking() const override {
    if (waiting_ > 0) return 0;
    if (indices_left_ > 0) return kDmaIndex;
    Ports ports = 0;
    if (source_left_ > 0) ports |= kDmaSource;
    if (destination_left_ > 0) ports |= kDmaDestination;
    return ports;
  }
  void step(Ports granted) override {
    if (waiting_ > 0) --waiting_;
    if ((granted & kDmaIndex) != 0 && --indices_left_ == 0) waiting_ = kDmaIndexCycles;
    if ((granted & kDmaSource) != 0) --source_left_;
    if ((granted & kDmaDestination) != 0) --destination_left_;
  }
  [[nodiscard]] bool done() const override { return source_left_ == 0 && destination_left_ == 0; }

 private:
  uint64_t waiting_ = kBeforeFirstBeat;
  uint64_t indices_left_, source_left_, destination_left_;
};

}  // namespace

std::unique_ptr<PortSchedule> dma_ports(const contract::DmaCommand& command, const contract::Capabilities& caps) {
  const bool fills = command.mode == contract::DmaMode::kFill;
  return std::make_unique<DmaSchedule>(dma_index_beats(command, caps.dma_port_bytes),
                                       fills ? 0 : dma_side_beats(contract::dma_source(command), caps.dma_port_bytes),
                                       dma_side_beats(contract::dma_destination(command), caps.dma_port_bytes));
}

}  // namespace npu::timing
