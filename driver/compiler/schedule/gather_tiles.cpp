// SPDX-License-Identifier: Apache-2.0
// Rows that indices choose, by DMA: axes are the batches and the indices of a batch. All operands stay where they are.
#include <algorithm>

#include "driver/compiler/schedule/cost.h"
#include "driver/compiler/schedule/dram.h"
#include "driver/compiler/schedule/step_views.h"
#include "driver/compiler/schedule/tiled_step.h"

namespace npu::compiler::backend {
namespace {

class GatherTiles : public TiledStep {
  enum AxisIndex : size_t { kBatch, kIndex };
  enum OperandIndex : size_t { kTable, kIndices, kRows };

 public:
  GatherTiles(const GatherStep& step, const contract::Capabilities& capabilities)
      : TiledStep(contract::Engine::kDma), step_(step), capabilities_(capabilities) {
    axes_ = {{step.rows.dims[0], 1, 0, true, "batch"}, {step.rows.dims[1], 1, 0, true, "indices"}};
    const auto operand = [](const View& view, bool result, uint32_t axes) {
      Operand o;
      o.view = &view;
      o.result = result;
      o.any_memory = true;
      o.axes = axes;
      o.commits = result;
      return o;
    };
    operands_ = {operand(step.table, step.scatter, 1), operand(step.index, false, 3),
                 operand(step.rows, !step.scatter, 3)};
    operands_[kTable].moved = rows_bytes(step);
  }

  void box_of(size_t index, const Tile& tile, Box& box) const override {
    switch (static_cast<OperandIndex>(index)) {
      case kTable:  // any row of the batch
        box = {tile[kBatch], {0, step_.table.dims[1]}, {0, step_.table.dims[2]}};
        break;
      case kIndices:
        box = {tile[kBatch], tile[kIndex]};
        break;
      case kRows:
        box = {tile[kBatch], tile[kIndex], {0, step_.rows.dims[2]}};
        break;
    }
  }

  double cycles(std::span<const int64_t> size) const override {
    const int64_t indices = size[kBatch] * size[kIndex];
    return transfer_cycles(indices, row_bytes(), true, capabilities_) +
           transfer_cycles(1, indices * element_size(step_.index), true, capabilities_);
  }

  // As many commands as it takes: their indices follow each other, and fit into the channel.
  void commands(const Tile& tile, std::span<const Placed> placed, std::vector<Body>& out) const override {
    const Placed& index = placed[kIndices];
    const int64_t unit = element_size(step_.index), most = contract::kDmaIndices;
    const int64_t batches = tile[kBatch].count, indices = tile[kIndex].count;
    const bool dense = batches == 1 || index.strides[0] == indices * unit;
    const int64_t most_batches = dense ? std::max<int64_t>(1, most / indices) : 1;
    for (int64_t b = 0; b < batches; b += most_batches) {
      for (int64_t i = 0; i < indices; i += most) {
        const Range batch{b, std::min(most_batches, batches - b)}, list{i, std::min(most, indices - i)};
        check_command_count(out.size() + 1);
        out.emplace_back(command(batch, list, placed));
      }
    }
  }

 private:
  [[nodiscard]] int64_t row_bytes() const { return step_.rows.dims[2] * element_size(step_.rows); }

  [[nodiscard]] contract::DmaCommand command(Range batch, Range list, std::span<const Placed> placed) const {
    const auto at = [&](OperandIndex operand, int64_t first) {
      const std::vector<int64_t>& strides = placed[operand].strides;
      return moved(placed[operand].address, batch.start * strides[0] + first * strides[1]);
    };
    contract::DmaCommand c;
    c.mode = step_.scatter ? contract::DmaMode::kScatter : contract::DmaMode::kGather;
    c.run_bytes = static_cast<uint32_t>(field32(row_bytes()));
    c.count = {static_cast<uint32_t>(field32(batch.count)), static_cast<uint32_t>(field32(step_.table.dims[1])),
               static_cast<uint32_t>(field32(list.count)), 1, 1};
    c.index = at(kIndices, list.start);
    const contract::Address table = at(kTable, 0), rows = at(kRows, list.start);
    const auto stride = [&](OperandIndex operand, size_t dim, int64_t count) {  // it means nothing where the count is 1
      return count == 1 ? 0 : field32(placed[operand].strides[dim]);
    };
    const std::array<int32_t, 5> of_table = {stride(kTable, 0, batch.count), stride(kTable, 1, step_.table.dims[1])};
    const std::array<int32_t, 5> of_rows = {stride(kRows, 0, batch.count), 0, stride(kRows, 1, list.count)};
    c.src = step_.scatter ? rows : table;
    c.dst = step_.scatter ? table : rows;
    c.src_stride = step_.scatter ? of_rows : of_table;
    c.dst_stride = step_.scatter ? of_table : of_rows;
    return c;
  }

  const GatherStep& step_;
  const contract::Capabilities& capabilities_;
};

}  // namespace

std::unique_ptr<TiledStep> tile_gather(const GatherStep& step, const contract::Capabilities& capabilities) {
  return std::make_unique<GatherTiles>(step, capabilities);
}

}  // namespace npu::compiler::backend
