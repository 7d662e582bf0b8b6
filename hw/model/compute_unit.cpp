// SPDX-License-Identifier: Apache-2.0
#include "hw/model/compute_unit.h"

#include <algorithm>

namespace npu::model {

using contract::ErrorCode;
using contract::Space;
using engine::Access;

ComputeUnit::ComputeUnit(const sc_core::sc_module_name& name, Machine& machine, uint32_t queue,
                         std::unique_ptr<engine::Engine> engine)
    : QueueUnit(name, machine, queue),
      Lane(machine.interconnect.crossbar(), timing::kMostPorts, walks_.data()),
      engine_(std::move(engine)) {
  NPU_CHECK(engine_ != nullptr);
}

// Variables are where they were when the command was issued.
Window ComputeUnit::window(const contract::Address& address, Access access) const {
  if (address.region == contract::Region::kVariable) {
    for (const VariableUse& use : command_->variables) {
      if (use.index == address.variable && use.access == access) return use.window;
    }
  }
  return machine_.address_map.window(address, access);
}

std::span<uint8_t> ComputeUnit::resolve(const contract::Address& address, int64_t low, int64_t high, Access access) {
  const Window window = this->window(address, access);
  const int64_t first = int64_t{address.offset} + low;
  ErrorCode error = window.error;
  if (error == ErrorCode::kOk && window.space == Space::kDram) error = ErrorCode::kFaultAccessRight;
  if (error == ErrorCode::kOk &&
      (low > high || first < 0 || high > static_cast<int64_t>(window.limit) - address.offset)) {
    error = ErrorCode::kFaultOutOfBounds;
  }
  if (error != ErrorCode::kOk) {
    fault(*command_, error, address, static_cast<uint64_t>(first));
    return {};
  }
  const uint64_t begin = window.base + static_cast<uint64_t>(first);
  const auto bytes = static_cast<uint64_t>(high - low);
  if (window.space == Space::kPersistent) return machine_.persistent.bytes().subspan(begin, bytes);
  if (access == Access::kWrite) machine_.scratchpad.touch(begin, begin + bytes);
  return machine_.scratchpad.bytes().subspan(begin, bytes);
}

engine::TileResult ComputeUnit::start(const IssuedCommand& command) {
  engine::TileResult result;
  try {
    result = engine_->start(command.tile, *this, machine_.clock.timed());
  } catch (const Error& error) {
    result.error = error.code();
  } catch (const std::exception& error) {
    panic(__FILE__, __LINE__, std::string("an engine threw: ") + error.what());
  }
  return result;
}

void ComputeUnit::finish() {
  try {
    engine_->finish();
  } catch (const std::exception& error) {
    panic(__FILE__, __LINE__, std::string("an engine threw: ") + error.what());
  }
}

void ComputeUnit::execute(const IssuedCommand& command, Work& work) {
  wait_until(machine_.clock.now() + machine_.jitter.engine());
  if (machine_.job.aborting()) return;
  command_ = &command;
  const engine::TileResult result = start(command);
  if (result.error != ErrorCode::kOk) fault(command, result.error);
  if (machine_.job.aborting()) return;
  work.macs = result.macs;
  const bool plays = machine_.clock.timed() && result.ports.schedule != nullptr;
  if (plays) load(result.ports, work);
  const bool beside = plays && may_go_beside(result);
  if (beside) {
    beside_.start([this] { finish(); });
  } else {
    finish();
  }
  if (!machine_.clock.timed()) work.traffic = command.asked;
  if (!plays) return;
  work.busy = result.cycles;
  play(*result.ports.schedule, work);
  if (beside) beside_.wait();
}

// Not where it takes less time than to hand it over; and not in the persistent SRAM, whose bits may flip meanwhile.
bool ComputeUnit::may_go_beside(const engine::TileResult& result) const {
  constexpr uint64_t kManyMacs = 1 << 18;
  return result.macs >= kManyMacs && memories_ == timing::set_of(timing::OnChip::kScratchpad) && several_processors();
}

void ComputeUnit::load(const engine::TilePorts& ports, Work& work) {
  // What must be written follows from the command's fields; how often operands are read is the engine's affair.
  const Traffic fields = work.asked;
  work.asked = {};
  memories_ = 0;
  for (size_t i = 0; i < walks_.size(); ++i) {
    engine::start_walk(walks_[i], ports.demands[i], [&](const engine::Sweep& sweep) -> engine::SweepPlace {
      const Window window = this->window(sweep.base, sweep.access);
      const bool read = sweep.access == Access::kRead;
      work.asked.moved(window.space, read, sweep.bytes);
      const auto first = static_cast<uint64_t>(int64_t{sweep.base.offset} + sweep.extent.low);
      const timing::OnChip memory =
          window.space == Space::kPersistent ? timing::OnChip::kPersistent : timing::OnChip::kScratchpad;
      memories_ |= timing::set_of(memory);
      return {memory, window.base + first};
    });
  }
  work.asked.spm_written = fields.spm_written;
  work.asked.psram_written = fields.psram_written;
}

void ComputeUnit::play(timing::PortSchedule& schedule, Work& work) {
  if (schedule.done()) return;
  const uint64_t start = machine_.clock.now();
  clear_waited();
  machine_.interconnect.start(*this, schedule, start + work.busy);
  while (running() && !machine_.job.aborting()) wait(wake_.event());
  machine_.interconnect.stop(*this);
  work.traffic = moved();
  if (work.traffic.psram_read > 0) {
    work.busy += timing::Crossbar::kPersistentLatency;
    wait_until(machine_.clock.now() + timing::Crossbar::kPersistentLatency);
  }
  const uint64_t elapsed = machine_.clock.now() - start;
  work.bank_conflicts = std::min(elapsed - std::min(elapsed, work.busy), waited());
}

Traffic ComputeUnit::moved() const {
  Traffic traffic;
  for (const timing::RequestWalk& walk : walks_) {
    for (const timing::RequestWalk::Part& part : walk.parts()) {
      const bool scratchpad = part.range().memory == timing::OnChip::kScratchpad;
      traffic.of(scratchpad ? Space::kScratchpad : Space::kPersistent, !part.range().write) += part.moved();
    }
  }
  return traffic;
}

void ComputeUnit::ended(uint64_t) { wake_.set_now(); }

// A port is granted one request a cycle.
uint64_t ComputeUnit::cycles_left() const {
  uint64_t left = 0;
  for (const timing::RequestWalk& walk : walks_) left = std::max(left, walk.left());
  return left;
}

}  // namespace npu::model
