// SPDX-License-Identifier: Apache-2.0
#include "sim/cosim/random_persistent_sram.h"

#include <iterator>

namespace npu::cosim {

using contract::VariableEntry;
using rtl::PersistentSram;
using Op = PersistentSram::Op;

namespace {

uint32_t table_bytes(const PersistentSram::Sizes& sizes) {
  return sizes.entries * static_cast<uint32_t>(VariableEntry::kBytes);
}

uint32_t all_bytes(const PersistentSram::Sizes& sizes) { return ~0u >> (32 - sizes.port_bytes); }

// Marks meet their own epoch, and those half a turn away.
uint8_t random_epoch(std::mt19937_64& random) {
  constexpr uint8_t kEpochs[] = {0, 1, 127, 128, 255};
  return kEpochs[random() % std::size(kEpochs)];
}

// All bytes or any, of all words or of one.
uint32_t random_strobe(std::mt19937_64& random, const PersistentSram::Sizes& sizes) {
  uint32_t strobe = all_bytes(sizes);
  if (random() % 2 == 0) strobe &= static_cast<uint32_t>(random());
  if (random() % 3 == 0) strobe &= 0xffu << (8 * (random() % (sizes.port_bytes / 8)));
  return strobe;
}

std::vector<uint8_t> random_bytes(std::mt19937_64& random, uint32_t count) {
  std::vector<uint8_t> bytes(count);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
  return bytes;
}

}  // namespace

VariableEntry random_entry(std::mt19937_64& random, const PersistentSram::Sizes& sizes) {
  VariableEntry entry;
  const uint32_t table = table_bytes(sizes);
  const uint32_t place = random() % 2 == 0 ? 512 : sizes.bytes - table;
  entry.base = static_cast<uint32_t>(random() % 10 == 0 ? random() % table : table + random() % place);
  entry.length = random() % 6 == 0 ? 0 : 1 + static_cast<uint32_t>(random() % 64);
  if (random() % 20 == 0) entry.length = static_cast<uint32_t>(random());
  entry.owner = random() % 4 == 0 ? 1 : 0;
  entry.flags = static_cast<uint8_t>(random());
  if ((entry.flags & static_cast<uint8_t>(contract::VariableFlag::kInDram)) != 0) {
    entry.base = static_cast<uint32_t>(random() % 4 == 0 ? random() : random() % 16);
  }
  entry.seen_epoch = random_epoch(random);
  entry.hash = random() % 4 == 0 ? 1 : 0;
  return entry;
}

PersistentSram::Operation random_operation(std::mt19937_64& random, uint32_t entries) {
  PersistentSram::Operation operation;
  operation.op = random() % 25 == 0 ? Op::kBeginJob : static_cast<Op>(1 + random() % 5);
  operation.index = static_cast<uint32_t>(random() % entries);
  if (random() % 20 == 0) operation.index = static_cast<uint32_t>(random() % 65536);
  operation.hash = random() % 4 == 0 ? 1 : 0;
  operation.low = static_cast<int64_t>(random() % 30) - 2;
  operation.high = operation.low + static_cast<int64_t>(random() % 40);
  if (random() % 20 == 0) operation.high = (int64_t{1} << 39) - 1;
  if (random() % 20 == 0) operation.low = -(int64_t{1} << 39);
  operation.owner = random() % 4 == 0 ? 1 : 0;
  operation.epoch = random_epoch(random);
  return operation;
}

PersistentSramAccess random_access(std::mt19937_64& random, const PersistentSram::Sizes& sizes,
                                   const std::vector<uint32_t>& rows) {
  const auto table_row = static_cast<uint32_t>(random() % (table_bytes(sizes) / sizes.port_bytes));
  const uint64_t kind = random() % 20;
  PersistentSramAccess access;
  access.access.write = random() % 2 == 0;
  access.access.privileged = random() % 2 == 0;
  access.access.strobe = random_strobe(random, sizes);
  access.access.address = rows[random() % rows.size()] * sizes.port_bytes;
  access.data = random_bytes(random, sizes.port_bytes);
  if (kind == 0) access.access.address = sizes.bytes + static_cast<uint32_t>(random() % 4096) * sizes.port_bytes;
  if (kind == 1 || kind == 2) {
    access.access.address = table_row * sizes.port_bytes;
    if (access.access.write) access.access.privileged = false;
  }
  return access;
}

PersistentSramAccess random_table_row(std::mt19937_64& random, const PersistentSram::Sizes& sizes, uint32_t row,
                                      uint32_t entries) {
  PersistentSramAccess access;
  access.access = {true, true, row * sizes.port_bytes, all_bytes(sizes), {}};
  access.data.resize(sizes.port_bytes);
  const auto entry_bytes = static_cast<uint32_t>(VariableEntry::kBytes);
  for (uint32_t at = 0; at < sizes.port_bytes; at += entry_bytes) {
    const uint32_t index = (row * sizes.port_bytes + at) / entry_bytes;
    if (index < entries && random() % 4 != 0) random_entry(random, sizes).store(access.data.data() + at);
  }
  return access;
}

PersistentSramAccess read_of_row(const PersistentSram::Sizes& sizes, uint32_t row) {
  PersistentSramAccess access;
  access.access = {false, true, row * sizes.port_bytes, all_bytes(sizes), {}};
  return access;
}

}  // namespace npu::cosim
