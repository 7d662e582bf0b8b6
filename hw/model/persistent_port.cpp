// SPDX-License-Identifier: Apache-2.0
#include "hw/model/persistent_port.h"

#include <array>
#include <cstring>

#include "hw/contract/gen/registers.h"

namespace npu::model {

namespace reg = contract::reg;

bool PersistentPort::access(uint64_t offset, bool write, bool debug, std::span<uint8_t> bytes) {
  PersistentSram& memory = machine_.persistent;
  const uint64_t end = offset + bytes.size();
  if (offset > memory.bytes().size() || bytes.size() > memory.bytes().size() - offset) return false;
  if (!memory.on()) {
    if (!debug) memory.refuse(offset);
    return false;
  }
  uint8_t* const place = memory.bytes().data() + offset;
  if (!write) {
    if (!debug && memory.host_read(offset, end)) return false;
    std::memcpy(bytes.data(), place, bytes.size());
    return true;
  }
  if (!debug && memory.host_read_edges(offset, end)) return false;
  std::memcpy(place, bytes.data(), bytes.size());
  debug ? memory.debug_wrote(offset, end) : memory.host_wrote(offset, end);
  return true;
}

bool PersistentPort::has(uint32_t offset) {
  return (offset >= reg::kPsramPower && offset <= reg::kEccAddress) ||
         (offset >= reg::kVarWord0 && offset <= reg::kVarWord3);
}

uint32_t PersistentPort::status() const {
  return (machine_.persistent.status().lost ? reg::kPsramStatusLostMask : 0) |
         (machine_.persistent_busy.left() > 0 ? reg::kPsramStatusBusyMask : 0);
}

uint32_t PersistentPort::read(uint32_t offset, uint32_t entry, bool debug) {
  PersistentSram& memory = machine_.persistent;
  switch (offset) {
    case reg::kPsramPower:
      return static_cast<uint32_t>(memory.power());
    case reg::kPsramStatus:
      return status();
    case reg::kPsramScrub:
      return 0;
    case reg::kEccCorrected:
      return memory.status().corrected;
    case reg::kEccUncorrectable:
      return memory.ecc().uncorrectable();
    case reg::kEccAddress:
      return memory.ecc().address();
    default:
      if (!memory.on() || entry >= memory.table().entries()) return 0;
      return read_entry(uint64_t{entry} * contract::VariableEntry::kBytes + (offset - reg::kVarWord0), debug);
  }
}

void PersistentPort::write(uint32_t offset, uint32_t value, uint32_t entry, bool debug) {
  PersistentSram& memory = machine_.persistent;
  switch (offset) {
    case reg::kPsramPower:
      if (!debug && !machine_.job.running()) set_power(value & reg::kPsramPowerStateMask);
      return;
    case reg::kPsramStatus:
      if (!debug && (value & reg::kPsramStatusLostMask) != 0) memory.acknowledge_loss();
      return;
    case reg::kPsramScrub:
      if (!debug && (value & reg::kPsramScrubStartMask) != 0) scrub();
      return;
    default:
      if (!memory.on() || entry >= memory.table().entries()) return;
      write_entry(uint64_t{entry} * contract::VariableEntry::kBytes + (offset - reg::kVarWord0), value);
      return;
  }
}

// A register cannot answer with an error: a host that must know compares ecc_uncorrectable.
uint32_t PersistentPort::read_entry(uint64_t place, bool debug) {
  PersistentSram& memory = machine_.persistent;
  uint32_t value = 0;
  if (!debug) static_cast<void>(memory.host_read(place, place + sizeof value));
  std::memcpy(&value, memory.bytes().data() + place, sizeof value);
  return value;
}

// Makes an entry right that has two wrong bits, once all of it is written.
void PersistentPort::write_entry(uint64_t place, uint32_t value) {
  std::array<uint8_t, sizeof value> bytes;
  std::memcpy(bytes.data(), &value, sizeof value);
  machine_.persistent.replace(place, bytes);
}

void PersistentPort::set_power(uint32_t value) {
  if (value > static_cast<uint32_t>(PersistentSram::Power::kOff)) return;
  if (machine_.persistent.set_power(static_cast<PersistentSram::Power>(value))) be_busy();
}

void PersistentPort::scrub() {
  if (!machine_.persistent.on() || machine_.job.running()) return;
  machine_.persistent.scrub();
  be_busy();
}

void PersistentPort::be_busy() {
  const contract::Capabilities& caps = machine_.config.caps;
  machine_.persistent_busy.start(caps.psram_bytes / caps.psram_port_bytes);
}

}  // namespace npu::model
