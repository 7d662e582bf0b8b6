// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/schedule/tiled_step.h"

#include <limits>
#include <string>

#include "hw/contract/error.h"

namespace npu::compiler::backend {
namespace {

[[noreturn]] void beyond_field(int64_t value) {
  throw Error(
      contract::ErrorCode::kArgumentUnsupported,
      "a size or stride of " + std::to_string(value) + " bytes or elements is beyond the 32 bits of a command's field");
}

}  // namespace

bool TiledStep::idle(size_t, const Tile&) const { return false; }

Box TiledStep::box(size_t index, const Tile& tile) const {
  Box box;
  box_of(index, tile, box);
  return box;
}

int64_t TiledStep::bytes(size_t index, const Tile& tile) const {
  return packed_bytes(*operands_[index].view, box(index, tile), operands_[index].repeats);
}

int64_t TiledStep::largest_bytes(size_t index, std::span<const int64_t> size) const {
  Tile tile(size.size());
  for (size_t i = 0; i < size.size(); ++i) tile[i] = {0, size[i]};
  return bytes(index, tile);
}

std::vector<int64_t> TiledStep::scratch_parts(size_t, std::span<const int64_t>) const { return {}; }

void TiledStep::make(size_t, const Tile&, uint8_t*) const { NPU_CHECK(false); }

std::unique_ptr<TiledStep> make_tiled(const Step& step, const contract::Capabilities& capabilities) {
  struct Visitor {
    const contract::Capabilities& capabilities;
    std::unique_ptr<TiledStep> operator()(const MxuStep& s) { return tile_mxu(s, capabilities); }
    std::unique_ptr<TiledStep> operator()(const EwiseStep& s) { return tile_ewise(s, capabilities); }
    std::unique_ptr<TiledStep> operator()(const PoolStep& s) { return tile_pool(s, capabilities); }
    std::unique_ptr<TiledStep> operator()(const ReduceStep& s) { return tile_reduce(s, capabilities); }
    std::unique_ptr<TiledStep> operator()(const CopyStep& s) { return tile_copy(s, capabilities); }
    std::unique_ptr<TiledStep> operator()(const GatherStep& s) { return tile_gather(s, capabilities); }
    std::unique_ptr<TiledStep> operator()(const DeclareStep&) { return nullptr; }
    std::unique_ptr<TiledStep> operator()(const LabelStep&) { return nullptr; }
    std::unique_ptr<TiledStep> operator()(const BranchStep&) { return nullptr; }
  };
  std::unique_ptr<TiledStep> tiled = std::visit(Visitor{capabilities}, step.work);
  if (tiled) tiled->completes_write_ = step.commit;
  return tiled;
}

contract::Header& header_of(Body& body) {
  return std::visit([](auto& command) -> contract::Header& { return command.header; }, body);
}

const contract::Header& header_of(const Body& body) {
  return std::visit([](const auto& command) -> const contract::Header& { return command.header; }, body);
}

bool is_control(const Body& body) {
  return std::holds_alternative<contract::LabelCommand>(body) || std::holds_alternative<contract::BranchCommand>(body);
}

int32_t field32(int64_t value) {
  if (value != static_cast<int32_t>(value)) beyond_field(value);
  return static_cast<int32_t>(value);
}

uint32_t field_of_window(int64_t value) {
  NPU_CHECK(0 < value && value <= kMostKernel);
  return static_cast<uint32_t>(value);
}

int32_t field_of_padding(int64_t value) {
  NPU_CHECK(-kMostPadding <= value && value <= kMostPadding);
  return static_cast<int32_t>(value);
}

contract::Address moved(contract::Address address, int64_t bytes) {
  const int64_t offset = static_cast<int64_t>(address.offset) + bytes;
  if (offset < 0 || offset > std::numeric_limits<uint32_t>::max()) beyond_field(offset);
  address.offset = static_cast<uint32_t>(offset);
  return address;
}

}  // namespace npu::compiler::backend
