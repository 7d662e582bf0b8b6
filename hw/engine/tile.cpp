// SPDX-License-Identifier: Apache-2.0
#include "hw/engine/tile.h"

#include <type_traits>
#include <utility>

#include "hw/contract/overloaded.h"
#include "hw/contract/queues.h"
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
  if (command.side_by_side_log2 == 0) return true;
  const uint64_t pixels = uint64_t{1} << command.side_by_side_log2;
  return pixels <= caps.mxu_split && command.out_c * pixels == caps.mxu_cols;
}

}  // namespace

bool can_run(const contract::Capabilities& caps, const Tile& tile) {
  if (const auto* mxu = std::get_if<MxuTile>(&tile)) return can_run_mxu(caps, *mxu);
  const auto* ewise = std::get_if<EwiseTile>(&tile);
  return ewise == nullptr || (ewise->command.register_count <= caps.vpu_registers &&
                              timing::table_rows_of(ewise->command, caps) <= timing::table_rows(caps));
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
