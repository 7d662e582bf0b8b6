// SPDX-License-Identifier: Apache-2.0
#include "hw/engine/tile.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "hw/contract/elements.h"
#include "hw/contract/overloaded.h"
#include "hw/contract/queues.h"
#include "hw/contract/uop_fields.h"
#include "hw/timing/vpu_cycles.h"

namespace npu::engine {

using contract::ErrorCode;

namespace {

// The alternative of Tile that is made of a command.
template <typename Command, typename Tiles>
struct KindOf;
template <typename Command, typename First, typename... Rest>
requires std::is_same_v<decltype(First::command), Command>
struct KindOf<Command, std::variant<First, Rest...>> {
  using Type = First;
};
template <typename Command, typename First, typename... Rest>
struct KindOf<Command, std::variant<First, Rest...>> {
  using Type = typename KindOf<Command, std::variant<Rest...>>::Type;
};

const contract::MxuCommand& issued(const MxuTile& tile) { return tile.issued; }
template <typename Other>
const auto& issued(const Other& tile) {
  return tile.command;
}

}  // namespace

ErrorCode make_tile(contract::AnyCommand command, Tile& tile) {
  return std::visit(Overloaded{
                        []<contract::SequencerCommand Command>(Command&) { return ErrorCode::kFaultBadCommand; },
                        [](contract::DmaCommand&) { return ErrorCode::kFaultBadCommand; },
                        [&]<contract::TileCommand Command>(Command& any) {
                          using Kind = typename KindOf<Command, Tile>::Type;
                          return Kind::make(std::move(any), tile.emplace<Kind>());
                        },
                    },
                    command);
}

namespace {

bool can_run_mxu(const contract::Capabilities& caps, const MxuTile& tile) {
  const contract::MxuCommand& command = tile.issued;
  const bool wide = command.src_type == contract::Element::kI16;  // only then may weights be
  if ((wide && caps.mxu_int16 == 0) || (tile.adds() && caps.mxu_residual == 0)) return false;
  if (contract::is_float(command.src_type) && contract::mxu_float_cycles(command.src_type, caps) == 0) return false;
  if (command.side_by_side_log2 == 0) return true;
  const uint64_t pixels = uint64_t{1} << command.side_by_side_log2;
  return pixels <= caps.mxu_split && command.out_c * pixels == caps.mxu_cols;
}

bool has_floats(const EwiseTile& tile) {
  return std::ranges::any_of(tile.command.operands, contract::is_float, &contract::Operand::type) ||
         std::ranges::any_of(tile.command.uops, [](const contract::Uop& uop) { return uop_info(uop.op).floats; });
}
template <typename Other>
bool has_floats(const Other& tile) {
  return contract::is_float(tile.command.type);
}

bool can_run_vpu(const contract::Capabilities& caps, const EwiseTile& tile) {
  return tile.command.register_count <= caps.vpu_registers &&
         timing::table_rows_of(tile.command, caps) <= timing::table_rows(caps);
}
bool can_run_vpu(const contract::Capabilities&, const auto&) { return true; }

}  // namespace

bool can_run(const contract::Capabilities& caps, const Tile& tile) {
  return std::visit(
      Overloaded{
          [&](const MxuTile& mxu) { return can_run_mxu(caps, mxu); },
          [&](const auto& vpu) { return can_run_vpu(caps, vpu) && (caps.vpu_float != 0 || !has_floats(vpu)); },
      },
      tile);
}

ErrorCode parse_tile(std::span<const uint32_t> words, Tile& tile) {
  if (!contract::well_formed(words) || !contract::reserved_zero(words)) return ErrorCode::kFaultBadCommand;
  return make_tile(contract::decode_command(words), tile);
}

const contract::Header& header_of(const Tile& tile) {
  return std::visit([](const auto& kind) -> const contract::Header& { return issued(kind).header; }, tile);
}

std::vector<uint32_t> words_of(const Tile& tile) {
  std::vector<uint32_t> words;
  std::visit([&](const auto& kind) { issued(kind).encode(words); }, tile);
  return words;
}

}  // namespace npu::engine
