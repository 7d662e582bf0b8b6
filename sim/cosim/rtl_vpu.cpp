// SPDX-License-Identifier: Apache-2.0
#include "sim/cosim/rtl_vpu.h"

#include <array>
#include <bit>

#include "hw/contract/overloaded.h"
#include "hw/timing/vpu_cycles.h"
#include "hw/timing/vpu_ports.h"
#include "sim/cosim/rtl_operand.h"

namespace npu::cosim {
namespace {

using contract::ErrorCode;
using engine::MemoryView;
using engine::TileResult;
using rtl::Vpu;

// Serves the block's requests from the memory of one tile, and from nothing else.
class VpuTileMemory {
 public:
  void add(const engine::Place& place) {
    if (place.first != nullptr) operands_[place.operand] = RtlOperand(place.first, place.box);
  }

  // False for a request that reaches outside.
  [[nodiscard]] bool serve(const Vpu::Parameters& request) const {
    if (request.operand >= operands_.size() || !operands_[request.operand].holds(request.offset, request.bytes)) {
      return false;
    }
    fetch(request, operands_[request.operand].base);
    return true;
  }
  [[nodiscard]] bool serve(const Vpu::Read& request) const {
    if (!inside(request)) return false;
    fetch(request, operands_[request.operand].base);
    return true;
  }
  [[nodiscard]] bool serve(const Vpu::Write& request) const {
    if (!inside(request)) return false;
    store(request, operands_[request.operand].base);
    return true;
  }

 private:
  template <class Request>
  [[nodiscard]] bool inside(const Request& request) const {
    if (request.operand >= operands_.size()) return false;
    const RtlOperand& operand = operands_[request.operand];
    for (uint64_t left = request.lanes; left != 0; left &= left - 1) {
      if (!operand.holds(static_cast<int32_t>(request.offsets[std::countr_zero(left)]), request.element_bytes)) {
        return false;
      }
    }
    return true;
  }

  std::array<RtlOperand, contract::kMaxOperands> operands_;
};

// Where memory refuses an operand, the error is the model's.
template <class Tile>
ErrorCode resolve(const Tile& tile, MemoryView& memory, VpuTileMemory& operands) {
  typename Tile::Operands at;
  const ErrorCode error = at.resolve(tile, memory);
  if (error != ErrorCode::kOk) return error;
  for (const engine::Place& place : at.places(tile)) operands.add(place);
  return ErrorCode::kOk;
}

class RtlVpu final : public RtlEngine {
 public:
  RtlVpu(const contract::Capabilities& caps, std::unique_ptr<Vpu> block) : caps_(caps), block_(std::move(block)) {}

  TileResult run(const engine::Tile& any, MemoryView& memory, bool timed) override {
    forget();
    return std::visit(Overloaded{
                          [](const engine::MxuTile&) { return engine::refused(ErrorCode::kFaultBadCommand); },
                          [&](const auto& tile) { return run_tile(tile, memory, timed); },
                      },
                      any);
  }

 private:
  template <class Tile>
  TileResult run_tile(const Tile& tile, MemoryView& memory, bool timed) {
    TileResult result;
    VpuTileMemory operands;
    result.error = resolve(tile, memory, operands);
    if (result.error != ErrorCode::kOk) return result;
    formula_cycles_ = timing::vpu_cycles(tile.command, caps_).total();

    block_->start(tile.command);
    std::unique_ptr<timing::PortSchedule> schedule = timing::vpu_ports(tile.command, caps_);
    if (!clock(*block_, operands, timing::kVpuRead, std::move(schedule), result)) return unfinished();
    if (timed) {
      result.ports = engine::tile_ports(tile, caps_);
    } else {
      result.cycles = result.fill = result.steady = result.drain = 0;
    }
    return result;
  }

  const contract::Capabilities caps_;
  std::unique_ptr<Vpu> block_;
};

}  // namespace

std::unique_ptr<RtlEngine> make_rtl_vpu(const contract::Capabilities& caps, std::unique_ptr<Vpu> block) {
  return std::make_unique<RtlVpu>(caps, std::move(block));
}

}  // namespace npu::cosim
