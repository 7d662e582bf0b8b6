// SPDX-License-Identifier: Apache-2.0
#include "hw/engine/vpu_ewise_tile.h"

#include <algorithm>
#include <bitset>
#include <utility>

#include "hw/contract/uop_fields.h"

namespace npu::engine {

namespace {

using contract::ErrorCode;
using contract::Operand;
using contract::ParameterEntry;
using contract::ParameterHeader;
using contract::RescaleImmediate;
using contract::Uop;
using contract::UopCode;
using contract::UopField;
using contract::UopRole;
using contract::VpuEwiseCommand;

// Checks one program; `valid()` is false after the first field that is not what the contract allows there.
class ProgramCheck {
 public:
  explicit ProgramCheck(EwiseTile& tile) : tile_(tile) {}

  [[nodiscard]] bool valid() const { return valid_; }

  void check(const Uop& uop) {
    require(known(uop.op));
    if (!valid_) return;
    const bool per_channel = uop.op == UopCode::kRescale && RescaleImmediate::unpack(uop.imm0).per_channel;
    tile_.per_channel = tile_.per_channel || per_channel;
    for_each_field(uop, [&](const UopField& field, uint32_t value) {
      if (valid_) check(field, value, per_channel);
    });
  }

 private:
  void check(const UopField& field, uint32_t value, bool per_channel) {
    const auto number = static_cast<int32_t>(value);
    switch (field.role) {
      case UopRole::kUnused:
        return;
      case UopRole::kPacked:
        return require(field.allowed(number));
      case UopRole::kSource:
        return require(is_register(value) && written_[value]);
      case UopRole::kResult:
        require(is_register(value));
        if (valid_) written_.set(value);
        return;
      case UopRole::kLoaded:
        return stream(value, &EwiseTile::Use::loaded);
      case UopRole::kStored:
        return stream(value, &EwiseTile::Use::stored);
      case UopRole::kParameters:
        return block(value, ParameterHeader::kBytes +
                                (per_channel ? uint64_t{tile_.command.dims[3]} : 1) * ParameterEntry::kBytes);
      case UopRole::kTable:
        return block(value, field.bytes);
      case UopRole::kElement:
        return require(value < 32 && (field.elements >> value & 1) != 0);
      case UopRole::kNumber:
        return require(field.low <= number && number <= field.high);
    }
  }

  void require(bool condition) { valid_ = valid_ && condition; }
  [[nodiscard]] bool is_register(uint32_t index) const {
    return index < tile_.command.register_count && index < written_.size();
  }
  [[nodiscard]] bool is_operand(uint32_t index) const { return index < tile_.command.operands.size(); }

  void stream(uint32_t index, bool EwiseTile::Use::*how) {
    require(is_operand(index) && tile_.command.operands[index].bytes == 0);
    if (valid_) tile_.uses[index].*how = true;
  }
  void block(uint32_t index, uint64_t least) {
    require(is_operand(index) && tile_.command.operands[index].bytes >= least &&
            tile_.command.operands[index].stride == std::array<int32_t, 4>{});
  }

  EwiseTile& tile_;
  std::bitset<256> written_;
  bool valid_ = true;
};

}  // namespace

ErrorCode EwiseTile::make(VpuEwiseCommand issued, EwiseTile& tile) {
  tile = {};
  tile.command = std::move(issued);
  const VpuEwiseCommand& command = tile.command;
  if (command.operands.size() > contract::kMaxOperands || command.uops.empty() ||
      command.uops.size() > contract::kMaxUops) {
    return ErrorCode::kFaultBadCommand;
  }
  for (const uint32_t dim : command.dims) {
    if (dim == 0 || tile.elements > kMaxTileUops / command.uops.size() / dim) return ErrorCode::kFaultBadCommand;
    tile.elements *= dim;
  }
  for (const Operand& operand : command.operands) {
    if (!known(operand.type)) return ErrorCode::kFaultBadCommand;
  }
  // The engine loads each table and parameter block before it starts, whether the program names it or not.
  for (const Operand& operand : command.operands) tile.uses.push_back({.blob = operand.bytes != 0});
  ProgramCheck check(tile);
  for (const Uop& uop : command.uops) check.check(uop);
  const bool stores =
      std::any_of(tile.uses.begin(), tile.uses.end(), [](const EwiseTile::Use& use) { return use.stored; });
  return check.valid() && stores ? ErrorCode::kOk : ErrorCode::kFaultBadCommand;
}

Box EwiseTile::box(size_t index) const {
  const Operand& operand = command.operands[index];
  Box box;
  box.base = operand.base;
  if (uses[index].blob) {
    box.run = operand.bytes;
    return box;
  }
  for (size_t d = 0; d < box.count.size(); ++d) {
    box.count[d] = command.dims[d];
    box.stride[d] = operand.stride[d];
  }
  box.run = element_bytes(operand.type);
  return box;
}

ErrorCode EwiseOperands::resolve(const EwiseTile& tile, MemoryView& memory) {
  *this = {};
  // Blobs before streams, so that a bad table is reported before anything is written.
  for (size_t i = 0; i < tile.uses.size(); ++i) {
    if (!tile.uses[i].blob) continue;
    const Resolved blob = resolve_box(tile.box(i), memory, Access::kRead, /*disjoint=*/false);
    if (blob.error != ErrorCode::kOk) return blob.error;
    data[i] = blob.data;
  }
  for (const Access access : {Access::kRead, Access::kWrite}) {
    for (size_t i = 0; i < tile.uses.size(); ++i) {
      const bool write = access == Access::kWrite;
      if (!(write ? tile.uses[i].stored : tile.uses[i].loaded)) continue;
      const Resolved stream = resolve_box(tile.box(i), memory, access, /*disjoint=*/write);
      if (stream.error != ErrorCode::kOk) return stream.error;
      data[i] = stream.data;
    }
  }
  return ErrorCode::kOk;
}

std::vector<Place> EwiseOperands::places(const EwiseTile& tile) const {
  std::vector<Place> places;
  for (size_t i = 0; i < tile.uses.size(); ++i) places.push_back({i, data.at(i), tile.box(i)});
  return places;
}

}  // namespace npu::engine
