#include "sim/cosim/rtl_vpu.h"

#include <bit>
#include <vector>

#include "hw/engine/vpu_beats.h"
#include "hw/engine/vpu_ewise.h"
#include "hw/engine/vpu_pool.h"
#include "hw/engine/vpu_reduce.h"
#include "hw/timing/vpu_cycles.h"
#include "sim/cosim/rtl_operand.h"

namespace npu::cosim {
namespace {

using contract::ErrorCode;
using contract::Opcode;
using engine::Access;
using engine::Box;
using engine::EwiseTile;
using engine::MemoryView;
using engine::PoolTile;
using engine::ReduceTile;
using engine::TileResult;
using rtl::Vpu;

// Serves the block's requests from the memory of one tile, and from nothing else.
class TileMemory {
 public:
  explicit TileMemory(size_t operands) : operands_(operands) {}

  [[nodiscard]] ErrorCode resolve(size_t operand, const Box& box, MemoryView& memory, Access access, bool disjoint) {
    const engine::Resolved resolved = resolve_box(box, memory, access, disjoint);
    if (resolved.error == ErrorCode::kOk) operands_[operand] = RtlOperand(resolved.data, box);
    return resolved.error;
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

  std::vector<RtlOperand> operands_;
};

// In the model's order (EwiseRunner): tables, then what is read, then what is written.
ErrorCode resolve(const EwiseTile& tile, MemoryView& memory, TileMemory& operands) {
  for (size_t i = 0; i < tile.uses.size(); ++i) {
    if (!tile.uses[i].blob) continue;
    const ErrorCode error = operands.resolve(i, tile.box(i), memory, Access::kRead, /*disjoint=*/false);
    if (error != ErrorCode::kOk) return error;
  }
  for (const Access access : {Access::kRead, Access::kWrite}) {
    for (size_t i = 0; i < tile.uses.size(); ++i) {
      const bool write = access == Access::kWrite;
      if (!(write ? tile.uses[i].stored : tile.uses[i].loaded)) continue;
      const ErrorCode error = operands.resolve(i, tile.box(i), memory, access, /*disjoint=*/write);
      if (error != ErrorCode::kOk) return error;
    }
  }
  return ErrorCode::kOk;
}

// Operand 0 is the source, 1 the result, 2 the parameters.
ErrorCode resolve(const PoolTile& tile, MemoryView& memory, TileMemory& operands) {
  ErrorCode error = ErrorCode::kOk;
  if (tile.reads_input()) error = operands.resolve(0, tile.src_box(), memory, Access::kRead, /*disjoint=*/false);
  if (error == ErrorCode::kOk && tile.command.mode == contract::PoolMode::kAvg) {
    error = operands.resolve(2, tile.params_box(), memory, Access::kRead, /*disjoint=*/false);
  }
  if (error != ErrorCode::kOk) return error;
  return operands.resolve(1, tile.dst_box(), memory, Access::kWrite, /*disjoint=*/true);
}

ErrorCode resolve(const ReduceTile& tile, MemoryView& memory, TileMemory& operands) {
  const ErrorCode error = operands.resolve(0, tile.src_box(), memory, Access::kRead, /*disjoint=*/false);
  if (error != ErrorCode::kOk) return error;
  return operands.resolve(1, tile.dst_box(), memory, Access::kWrite, /*disjoint=*/true);
}

size_t operand_count(const EwiseTile& tile) { return tile.command.operands.size(); }
size_t operand_count(const PoolTile&) { return 3; }
size_t operand_count(const ReduceTile&) { return 2; }

class RtlVpu final : public RtlEngine {
 public:
  RtlVpu(const contract::Capabilities& caps, std::unique_ptr<Vpu> block) : caps_(caps), block_(std::move(block)) {}

  TileResult run(std::span<const uint32_t> words, MemoryView& memory, bool timed) override {
    problem_.clear();
    formula_cycles_ = 0;
    switch (contract::Header::decode(words).opcode) {
      case Opcode::kVpuEwise:
        return run_tile<EwiseTile>(words, memory, timed, timing::ewise_cycles, engine::ewise_beats);
      case Opcode::kVpuPool:
        return run_tile<PoolTile>(words, memory, timed, timing::pool_cycles, engine::pool_beats);
      case Opcode::kVpuReduce:
        return run_tile<ReduceTile>(words, memory, timed, timing::reduce_cycles, engine::reduce_beats);
      default:
        TileResult result;
        result.error = ErrorCode::kFaultBadCommand;
        return result;
    }
  }

 private:
  template <class Tile, class Formula, class Beats>
  TileResult run_tile(std::span<const uint32_t> words, MemoryView& memory, bool timed, Formula formula, Beats beats) {
    TileResult result;
    Tile tile;
    result.error = Tile::parse(words, tile);
    if (result.error != ErrorCode::kOk) return result;
    TileMemory operands(operand_count(tile));
    result.error = resolve(tile, memory, operands);
    if (result.error != ErrorCode::kOk) return result;
    formula_cycles_ = formula(tile.command, caps_).total();

    block_->start(tile.command);
    clock(operands, result);
    if (!problem_.empty()) {
      block_->reset();
      result = {};
      result.error = ErrorCode::kBug;
      return result;
    }
    if (timed) {
      result.beats = beats(tile, caps_);
    } else {
      result.cycles = result.fill = result.steady = result.drain = 0;
    }
    return result;
  }

  void clock(const TileMemory& memory, TileResult& result) {
    block_->tick();
    uint64_t first_read = 0, last_read = 0;
    for (uint64_t cycle = 1; cycle <= patience(); ++cycle) {
      bool inside = true;
      Vpu::Parameters parameters;
      if (block_->parameters(parameters)) {
        inside = inside && memory.serve(parameters);
        block_->grant_parameters();
      }
      Vpu::Read read;
      if (block_->read(read)) {
        inside = inside && memory.serve(read);
        block_->grant_read();
        if (first_read == 0) first_read = cycle;
        last_read = cycle;
      }
      Vpu::Write write;
      if (block_->write(write)) {
        inside = inside && memory.serve(write);
        block_->grant_write();
      }
      if (!inside) {
        problem_ = "reaches outside of the tile's memory in cycle " + std::to_string(cycle);
        return;
      }
      block_->tick();
      if (!block_->done()) continue;
      result.cycles = cycle;
      result.fill = first_read == 0 ? 0 : first_read - 1;
      result.drain = cycle - (last_read == 0 ? cycle : last_read);
      result.steady = cycle - result.fill - result.drain;
      return;
    }
    problem_ = "has not ended after " + std::to_string(patience()) + " cycles";
  }

  const contract::Capabilities caps_;
  std::unique_ptr<Vpu> block_;
};

}  // namespace

std::unique_ptr<RtlEngine> make_rtl_vpu(const contract::Capabilities& caps, std::unique_ptr<Vpu> block) {
  return std::make_unique<RtlVpu>(caps, std::move(block));
}

}  // namespace npu::cosim
