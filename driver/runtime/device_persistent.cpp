// SPDX-License-Identifier: Apache-2.0
// What a device's persistent SRAM does as a whole: power, losses, error correction.
#include <fmt/format.h>

#include <map>
#include <utility>

#include "driver/runtime/device_state.h"
#include "driver/runtime/runtime.h"
#include "hw/contract/gen/registers.h"

namespace npu::runtime {

using contract::PsramPower;
namespace reg = contract::reg;

void DeviceState::switch_persistent(PsramPower state) {
  if (variables.power() == state) return;
  link->set_persistent_power(state);
  variables.set_power(state);
  if (state == PsramPower::kOff) note_loss();
}

void DeviceState::note_loss() {
  for (const uint16_t owner : variables.owners()) {
    StateLoss loss{variables.identities_of(owner)};
    for (const uint64_t id : losses.listeners_of(owner)) {
      mutex.defer([self = shared_from_this(), id, loss] {
        StateListener listener;
        {
          const Lock lock(self->mutex);
          listener = self->losses.listener(id);
        }
        if (listener) listener(loss);
      });
    }
    losses.add(owner, std::move(loss));
  }
  variables.lose();
  ++loss_count;
  device_says_lost = true;
}

void DeviceState::look_at_persistent() {
  if (!sees_core) return;  // the firmware answers for it, when a job runs
  variables.set_power(static_cast<PsramPower>(hal->read_register(reg::kPsramPower) & reg::kPsramPowerStateMask));
  if ((hal->read_register(reg::kPsramStatus) & reg::kPsramStatusLostMask) != 0 && !device_says_lost) note_loss();
}

void DeviceState::tell_loss() {
  if (device_says_lost) link->acknowledge_loss();
  device_says_lost = false;
}

void DeviceState::prepare_persistent() {
  // Behind other jobs the firmware switches it on by itself.
  if (jobs_in_flight == 0) switch_persistent(PsramPower::kOn);
  tell_loss();
  if (variables.power() == PsramPower::kOn) variables.settle();
}

void Device::set_persistent_power(PsramPower state) {
  const Lock lock(state_->mutex);
  state_->require_idle("change the power of the persistent SRAM");
  state_->look_at_persistent();
  state_->switch_persistent(state);
}

PsramPower Device::persistent_power() {
  const Lock lock(state_->mutex);
  state_->look_at_persistent();
  return state_->variables.power();
}

ScrubResult Device::scrub() {
  const Lock lock(state_->mutex);
  state_->require_idle("scrub the persistent SRAM");
  state_->look_at_persistent();
  VariableManager& variables = state_->variables;
  variables.require_power("scrub");
  const Link::Scrubbed scrubbed = state_->link->scrub();
  ScrubResult result{scrubbed.corrected, scrubbed.uncorrectable, {}};
  if (scrubbed.uncorrectable == 0) return result;
  std::map<std::string, int> contexts;  // that have a variable of this identity
  for (const uint16_t owner : variables.owners()) {
    for (const std::string& identity : variables.identities_of(owner)) ++contexts[identity];
  }
  for (const uint32_t index : variables.find_damaged()) {
    const VariableSlot& slot = variables.slot(index);
    result.damaged.push_back(contexts[slot.identity] == 1 ? slot.identity
                                                          : fmt::format("{} (context {})", slot.identity, slot.owner));
  }
  variables.renew_free_entries();
  return result;
}

EccCounts Device::ecc_counts() {
  const Lock lock(state_->mutex);
  return {state_->hal->read_register(reg::kEccCorrected), state_->hal->read_register(reg::kEccUncorrectable)};
}

}  // namespace npu::runtime
