// SPDX-License-Identifier: Apache-2.0
#include <bitset>

#include "hw/engine/vpu_ewise.h"

namespace npu::engine {

namespace {

using contract::Element;
using contract::ErrorCode;
using contract::Operand;
using contract::ParameterEntry;
using contract::ParameterHeader;
using contract::Rescale;
using contract::Uop;
using contract::UopCode;
using contract::VpuEwiseCommand;

constexpr uint32_t kTable8Bytes = 256;
constexpr uint32_t kTable16Bytes = 513 * 2;

// Checks one program; `valid()` is false after the first field that is out of range.
class ProgramCheck {
 public:
  explicit ProgramCheck(EwiseTile& tile) : tile_(tile) {}

  [[nodiscard]] bool valid() const { return valid_; }

  void check(const Uop& uop) {
    require(known(uop.op));
    if (!valid_) return;
    switch (uop.op) {
      case UopCode::kLoad:
        require((uop.imm0 & ~1) == 0);
        if (stream(uop.a)) tile_.uses[uop.a].loaded = true;
        return writes(uop.dst);
      case UopCode::kStore:
        reads(uop.a);
        if (stream(uop.b)) tile_.uses[uop.b].stored = true;
        return;
      case UopCode::kMul:
        require(uop.imm0 >= 0 && uop.imm0 <= 63);
        return binary(uop);
      case UopCode::kShl:
      case UopCode::kShrLogical:
        element(static_cast<uint32_t>(uop.imm0));
        return binary(uop);
      case UopCode::kShrArith:
        require(uop.imm0 == 0 || uop.imm0 == 1);
        return binary(uop);
      case UopCode::kSelect:
        reads(static_cast<uint32_t>(uop.imm0));
        return binary(uop);
      case UopCode::kNegate:
        require(uop.b == static_cast<uint32_t>(Element::kI8) || uop.b == static_cast<uint32_t>(Element::kI16) ||
                uop.b == static_cast<uint32_t>(Element::kI32));
        return unary(uop);
      case UopCode::kCast:
        element(static_cast<uint32_t>(uop.imm0));
        return unary(uop);
      case UopCode::kRescale:
        rescale(uop);
        return unary(uop);
      case UopCode::kTable8:
        blob(uop.b, kTable8Bytes);
        return unary(uop);
      case UopCode::kTable16:
        blob(uop.b, kTable16Bytes);
        return unary(uop);
      case UopCode::kClamp:
      case UopCode::kAbs:
      case UopCode::kClz:
      case UopCode::kBitNot:
      case UopCode::kLogicalNot:
        return unary(uop);
      default:
        return binary(uop);
    }
  }

 private:
  void require(bool condition) { valid_ = valid_ && condition; }
  void element(uint32_t type) { require(known(static_cast<Element>(type))); }
  void reads(uint32_t index) {
    require(index < tile_.command.register_count && index < written_.size() && written_[index]);
  }
  void writes(uint32_t index) {
    require(index < tile_.command.register_count && index < written_.size());
    if (valid_) written_.set(index);
  }
  void unary(const Uop& uop) {
    reads(uop.a);
    writes(uop.dst);
  }
  void binary(const Uop& uop) {
    reads(uop.b);
    unary(uop);
  }
  // An operand of load or store: not a blob.
  bool stream(uint32_t index) {
    require(index < tile_.command.operands.size() && tile_.command.operands[index].bytes == 0);
    return valid_;
  }
  void blob(uint32_t index, uint64_t least) {
    require(index < tile_.command.operands.size() && tile_.command.operands[index].bytes >= least);
    if (!valid_) return;
    require(tile_.command.operands[index].stride == std::array<int32_t, 4>{});
  }
  void rescale(const Uop& uop) {
    const uint32_t fields = static_cast<uint32_t>(uop.imm0);
    const Rescale kind = static_cast<Rescale>(fields & 0xff);
    const uint32_t per_channel = fields >> 8 & 0xff;
    const Element type = static_cast<Element>(fields >> 16 & 0xff);
    const uint32_t is_unsigned = fields >> 24;
    require(kind == Rescale::kSingle32 || kind == Rescale::kDouble32 || kind == Rescale::kSingle16);
    require(per_channel <= 1 && is_unsigned <= 1);
    require(type == Element::kI8 || type == Element::kI16 || (type == Element::kI32 && is_unsigned == 0));
    const uint64_t entries = per_channel != 0 ? tile_.command.dims[3] : 1;
    blob(uop.b, ParameterHeader::kBytes + entries * ParameterEntry::kBytes);
    tile_.per_channel = tile_.per_channel || per_channel != 0;
  }

  EwiseTile& tile_;
  std::bitset<256> written_;
  bool valid_ = true;
};

}  // namespace

ErrorCode EwiseTile::parse(std::span<const uint32_t> words, EwiseTile& tile) {
  tile = {};
  VpuEwiseCommand& command = tile.command;
  command = VpuEwiseCommand::decode(words);
  const size_t length =
      VpuEwiseCommand::kWords + command.operands.size() * Operand::kWords + command.uops.size() * Uop::kWords;
  // A command whose counts say more than its length holds decodes to fewer operands or operations.
  const bool whole = words.size() == length && (words[9] & 0xff) == command.operands.size() &&
                     (words[9] >> 8 & 0xff) == command.uops.size();
  if (!whole || command.header.opcode != contract::Opcode::kVpuEwise ||
      command.operands.size() > contract::kMaxOperands || command.uops.size() > contract::kMaxUops ||
      command.uops.empty()) {
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
  return check.valid() ? ErrorCode::kOk : ErrorCode::kFaultBadCommand;
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

}  // namespace npu::engine
