// SPDX-License-Identifier: Apache-2.0
#include "hw/model/npu.h"

#include <string>

namespace npu::model {

namespace {

std::vector<std::unique_ptr<DmaChannel>> make_channels(Machine& machine) {
  std::vector<std::unique_ptr<DmaChannel>> channels;
  for (uint32_t i = 0; i < machine.config.caps.dma_channels; ++i) {
    const std::string name = "dma" + std::to_string(i);
    channels.push_back(std::make_unique<DmaChannel>(name.c_str(), machine, i));
  }
  return channels;
}

}  // namespace

Npu::Npu(const sc_core::sc_module_name& name, const NpuConfig& config, std::unique_ptr<engine::Engine> mxu,
         std::unique_ptr<engine::Engine> vpu, std::unique_ptr<engine::PersistentBackEnd> persistent)
    : sc_module(name),
      host("host"),
      memory("memory"),
      irq("irq"),
      machine_(config, memory, std::move(persistent)),
      channels_(make_channels(machine_)),
      mxu_("mxu", machine_, kMxuQueue, std::move(mxu)),
      vpu_("vpu", machine_, kVpuQueue, std::move(vpu)),
      sequencer_("sequencer", machine_, units(), [this](uint64_t cycles) { job_ended(cycles); }),
      registers_(machine_, {[this] { sequencer_.start(registers_.job_registers()); },
                            [this](bool cold) { reset(cold); }, [this] { irq_changed_.notify(sc_core::SC_ZERO_TIME); },
                            [this](uint32_t queue) { return queue_state(queue); }}) {
  host.register_b_transport(this, &Npu::b_transport);
  host.register_transport_dbg(this, &Npu::transport_dbg);
  for (QueueUnit* unit : units()) {
    if (unit != nullptr) unit->connect(units());
  }
  machine_.persistent.on_failure([this](contract::ErrorCode code) {
    Fault fault;
    fault.code = code;
    fault.queue = kSequencerQueue;
    machine_.job.fault(fault);
  });
  SC_HAS_PROCESS(Npu);
  SC_METHOD(drive_irq);
  sensitive << irq_changed_;
  dont_initialize();
}

std::vector<QueueUnit*> Npu::units() const {
  std::vector<QueueUnit*> units(contract::kEngineQueues, nullptr);
  for (uint32_t i = 0; i < channels_.size(); ++i) units[i] = channels_[i].get();
  units[kMxuQueue] = const_cast<ComputeUnit*>(&mxu_);
  units[kVpuQueue] = const_cast<ComputeUnit*>(&vpu_);
  return units;
}

void Npu::reset(bool cold) {
  if (machine_.job.running()) {
    resetting_ = true;
    machine_.job.stop();
    wait(sequencer_.ended_event());
    resetting_ = false;
  }
  registers_.reset();
  machine_.counters.clear();
  machine_.events.clear();
  if (!cold) return;
  machine_.persistent.reset();
  machine_.persistent_busy.stop();
  machine_.hang.disarm();
  machine_.brownout.arm(0);
  machine_.memory.fail_burst(0);
}

void Npu::job_ended(uint64_t cycles) {
  if (resetting_) return;
  const uint64_t counter_base = machine_.job.registers().counter_base;
  if (counter_base != 0) machine_.counters.add_to_memory(machine_.memory, counter_base);
  registers_.job_ended(cycles);
}

void Npu::flip_bit(uint32_t address, uint32_t bit) {
  if (address >= machine_.persistent.bytes().size() || bit >= Ecc::kWordBits) return;
  machine_.persistent.flip(address / Ecc::kWordBytes, bit);
}

QueueState Npu::queue_state(uint32_t queue) const {
  if (queue == kSequencerQueue) return sequencer_.state();
  const std::vector<QueueUnit*> all = units();
  return queue < all.size() && all[queue] != nullptr ? all[queue]->state() : QueueState{};
}

}  // namespace npu::model
