// SPDX-License-Identifier: Apache-2.0
// MXU or VPU: a queue unit around an engine (hw/engine/engine.h). The engine's result is written while the command
// executes, which no other command can see (hazard_checker.h): when it starts, or in a thread beside the simulation's
// that ends before the command does. The tile's ports ask for memory, cycle by cycle, as the RTL's do
// (timing::PortSchedule), and the command ends when all is granted.
#pragma once

#include <array>
#include <memory>
#include <span>

#include "hw/engine/engine.h"
#include "hw/engine/port_requests.h"
#include "hw/model/beside.h"
#include "hw/model/queue_unit.h"

namespace npu::model {

class ComputeUnit : public QueueUnit, private engine::MemoryView, private timing::Crossbar::Lane {
 public:
  ComputeUnit(const sc_core::sc_module_name& name, Machine& machine, uint32_t queue,
              std::unique_ptr<engine::Engine> engine);

 private:
  void execute(const IssuedCommand& command, Work& work) override;
  [[nodiscard]] engine::TileResult start(const IssuedCommand& command);
  void finish();
  // Whether the result may be computed while the tile's time is played.
  [[nodiscard]] bool may_go_beside(const engine::TileResult& result) const;
  std::span<uint8_t> resolve(const contract::Address& address, int64_t low, int64_t high,
                             engine::Access access) override;
  [[nodiscard]] Window window(const contract::Address& address, engine::Access access) const;
  void load(const engine::TilePorts& ports, Work& work);
  void play(timing::PortSchedule& schedule, Work& work);
  [[nodiscard]] Traffic moved() const;

  [[nodiscard]] timing::OnChipSet memories() const override { return memories_; }
  void ended(uint64_t end) override;
  [[nodiscard]] uint64_t cycles_left() const override;

  std::unique_ptr<engine::Engine> engine_;
  const IssuedCommand* command_ = nullptr;
  std::array<timing::RequestWalk, timing::kMostPorts> walks_;
  timing::OnChipSet memories_ = 0;  // where the operands are
  Beside beside_;
};

}  // namespace npu::model
