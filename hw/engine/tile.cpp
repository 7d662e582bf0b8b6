// SPDX-License-Identifier: Apache-2.0
#include "hw/engine/tile.h"

#include <utility>

#include "hw/contract/overloaded.h"
#include "hw/timing/vpu_cycles.h"

namespace npu::engine {

using contract::ErrorCode;

namespace {

template <typename Kind, typename Command>
ErrorCode make(Command&& command, Tile& tile) {
  return Kind::make(std::forward<Command>(command), tile.emplace<Kind>());
}

const contract::MxuCommand& issued(const MxuTile& tile) { return tile.issued; }
template <typename Other>
const auto& issued(const Other& tile) {
  return tile.command;
}

}  // namespace

ErrorCode make_tile(contract::AnyCommand command, Tile& tile) {
  const auto no_engine = [](const auto&) { return ErrorCode::kFaultBadCommand; };
  return std::visit(Overloaded{
                        [&](contract::BeginCommand& begin) { return no_engine(begin); },
                        [&](contract::EndCommand& end) { return no_engine(end); },
                        [&](contract::DeclareCommand& declare) { return no_engine(declare); },
                        [&](contract::YieldCommand& yield) { return no_engine(yield); },
                        [&](contract::LabelCommand& label) { return no_engine(label); },
                        [&](contract::BranchCommand& branch) { return no_engine(branch); },
                        [&](contract::DmaCommand& dma) { return no_engine(dma); },
                        [&](contract::MxuCommand& mxu) { return make<MxuTile>(mxu, tile); },
                        [&](contract::VpuEwiseCommand& ewise) { return make<EwiseTile>(std::move(ewise), tile); },
                        [&](contract::VpuPoolCommand& pool) { return make<PoolTile>(pool, tile); },
                        [&](contract::VpuReduceCommand& reduce) { return make<ReduceTile>(reduce, tile); },
                    },
                    command);
}

bool can_run(const contract::Capabilities& caps, const Tile& tile) {
  if (const auto* mxu = std::get_if<MxuTile>(&tile)) {
    const bool wide = mxu->issued.src_type == contract::Element::kI16;  // only then may weights be
    return !wide || caps.mxu_int16 != 0;
  }
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
