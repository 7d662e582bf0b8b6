// SPDX-License-Identifier: Apache-2.0
#include "sim/cosim/rtl_mxu.h"

#include <algorithm>

#include "hw/engine/mxu_tile.h"
#include "hw/timing/mxu_cycles.h"
#include "hw/timing/mxu_ports.h"
#include "sim/cosim/rtl_operand.h"

namespace npu::cosim {
namespace {

using contract::ErrorCode;
using engine::MxuTile;
using engine::TileResult;
using rtl::MacArray;

// Serves the block's requests from the memory of one tile, and from nothing else.
class MxuTileMemory {
 public:
  MxuTileMemory(const MxuTile& tile, const engine::MxuOperands& at)
      : weights_(at.weights, tile.weight_box()), params_(at.params, tile.params_box()), dst_(at.dst, tile.dst_box()) {
    if (tile.adds()) residual_ = RtlOperand(at.residual, tile.residual_box());
    if (at.src != nullptr) src_ = RtlOperand(at.src, tile.src_box());
  }

  // False for a request that reaches outside.
  [[nodiscard]] bool serve(const MacArray::Activations& request) const {
    const auto bytes = int64_t{request.elements} * request.element_bytes;
    bool inside = true;
    request.each([&](uint32_t, uint32_t, int32_t offset) { inside = inside && src_.holds(offset, bytes); });
    if (!inside) return false;
    fetch(request, src_.base);
    return true;
  }
  [[nodiscard]] bool serve(const MacArray::Weights& request) const {
    const int64_t columns = (int64_t{request.columns} - 1) * request.column_stride;
    const int64_t elements = (int64_t{request.elements} - 1) * request.element_stride;
    const int64_t first = request.offset + std::min<int64_t>(columns, 0) + std::min<int64_t>(elements, 0);
    const int64_t last = request.offset + std::max<int64_t>(columns, 0) + std::max<int64_t>(elements, 0);
    if (!weights_.holds(first, last - first + request.element_bytes)) return false;
    fetch(request, weights_.base);
    return true;
  }
  [[nodiscard]] bool serve(const MacArray::Parameters& request) const {
    if (!params_.holds(request.offset, request.bytes)) return false;
    fetch(request, params_.base);
    return true;
  }
  [[nodiscard]] bool serve(const MacArray::Residual& request) const {
    if (!residual_.holds(request.offset, int64_t{request.columns} * request.element_bytes)) return false;
    fetch(request, residual_.base);
    return true;
  }
  [[nodiscard]] bool serve(const MacArray::Results& request) const {
    if (!dst_.holds(request.offset, int64_t{request.columns} * request.element_bytes)) return false;
    store(request, dst_.base);
    return true;
  }

 private:
  RtlOperand src_, weights_, params_, dst_, residual_;
};

class RtlMxu final : public RtlEngine {
 public:
  RtlMxu(const contract::Capabilities& caps, std::unique_ptr<MacArray> block) : caps_(caps), block_(std::move(block)) {}

  TileResult run(const engine::Tile& any, engine::MemoryView& memory, bool timed) override {
    forget();
    if (!std::holds_alternative<MxuTile>(any)) return engine::refused(ErrorCode::kFaultBadCommand);
    const auto& tile = std::get<MxuTile>(any);
    TileResult result;
    engine::MxuOperands at;
    result.error = at.resolve(tile, memory);
    if (result.error != ErrorCode::kOk) return result;
    formula_cycles_ = timing::mxu_cycles(tile.command, caps_).total();

    block_->start(tile.issued);
    const MxuTileMemory operands(tile, at);
    std::unique_ptr<timing::PortSchedule> schedule = timing::mxu_ports(tile.command, caps_);
    if (!clock(*block_, operands, timing::kMxuActivations, std::move(schedule), result)) return unfinished();
    result.macs = tile.macs;
    if (timed) {
      result.ports = engine::tile_ports(tile, caps_);
    } else {
      result.cycles = result.fill = result.steady = result.drain = 0;
    }
    return result;
  }

 private:
  const contract::Capabilities caps_;
  std::unique_ptr<MacArray> block_;
};

}  // namespace

std::unique_ptr<RtlEngine> make_rtl_mxu(const contract::Capabilities& caps, std::unique_ptr<MacArray> block) {
  return std::make_unique<RtlMxu>(caps, std::move(block));
}

}  // namespace npu::cosim
