// SPDX-License-Identifier: Apache-2.0
#include "driver/runtime/state_losses.h"

#include <fmt/format.h>

#include "driver/graph/text.h"
#include "hw/contract/error.h"

namespace npu::runtime {

namespace {

std::string names_of(const StateLoss& loss) {
  std::string names;
  for (const std::string& identity : loss.identities) {
    names += (names.empty() ? "" : ", ") + graph::in_quotes(identity);
  }
  return names;
}

}  // namespace

std::string describe_loss(const StateLoss& loss) {
  return fmt::format(
      "the persistent SRAM lost its power, and with it what this context held in {}; call "
      "acknowledge_loss() to start with initial values again, then restore a snapshot if there is one.",
      names_of(loss));
}

const StateLoss* StateLosses::find(uint16_t owner) const {
  const auto loss = losses_.find(owner);
  return loss == losses_.end() ? nullptr : &loss->second;
}

void StateLosses::require_none(uint16_t owner) const {
  const auto loss = losses_.find(owner);
  if (loss != losses_.end()) throw Error(contract::ErrorCode::kPowerLost, describe_loss(loss->second));
}

uint64_t StateLosses::listen(uint16_t owner, StateListener listener) {
  listeners_[next_id_] = {owner, std::move(listener)};
  return next_id_++;
}

void StateLosses::remove_listener(uint16_t owner, uint64_t id) {
  const auto found = listeners_.find(id);
  if (found != listeners_.end() && found->second.first == owner) listeners_.erase(found);
}

std::vector<uint64_t> StateLosses::listeners_of(uint16_t owner) const {
  std::vector<uint64_t> ids;
  for (const auto& [id, entry] : listeners_) {
    if (entry.first == owner) ids.push_back(id);
  }
  return ids;
}

StateListener StateLosses::listener(uint64_t id) const {
  const auto found = listeners_.find(id);
  return found == listeners_.end() ? StateListener() : found->second.second;
}

void StateLosses::close(uint16_t owner) {
  losses_.erase(owner);
  std::erase_if(listeners_, [owner](const auto& entry) { return entry.second.first == owner; });
}

}  // namespace npu::runtime
