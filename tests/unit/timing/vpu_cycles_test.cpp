// SPDX-License-Identifier: Apache-2.0
// Cycles of VPU and DMA by hand.
#include "hw/timing/vpu_cycles.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "hw/contract/gen/micro_operations.h"
#include "hw/timing/dma_cycles.h"
#include "hw/timing/vpu_program.h"

namespace npu::timing {
namespace {

using contract::Capabilities;
using contract::DmaCommand;
using contract::Element;
using contract::PoolMode;
using contract::ReduceOp;
using contract::Uop;
using contract::UopCode;
using contract::VpuEwiseCommand;
using contract::VpuPoolCommand;
using contract::VpuReduceCommand;

Capabilities machine(uint32_t lanes) {
  Capabilities caps;
  caps.vpu_lanes = lanes;
  caps.dma_port_bytes = 16;
  return caps;
}

constexpr uint64_t kFill = 6, kDrain = 4;

TEST(VpuCycles, AddOfTwoTensors) {
  VpuEwiseCommand command;
  command.dims = {1, 2, 10, 50};  // 1,000 elements: 16 vectors of 64
  command.operands.resize(3);
  command.uops = {{UopCode::kLoad, 0, 0, 0, 0, 0},
                  {UopCode::kLoad, 1, 1, 0, 0, 0},
                  {UopCode::kAdd, 0, 0, 1, 0, 0},
                  {UopCode::kStore, 0, 0, 2, 0, 0}};
  EXPECT_EQ(vpu_cycles(command, machine(64)), (Cycles{kFill, 16 * 4, kDrain}));
  EXPECT_EQ(vpu_cycles(command, machine(8)), (Cycles{kFill, 125 * 4, kDrain}));
  command.operands[2].type = Element::kI48;  // the store takes two passes
  EXPECT_EQ(vpu_cycles(command, machine(64)).steady, 16u * 5);
}

TEST(VpuCycles, TablesAreReadBeforeTheStart) {
  VpuEwiseCommand command;
  command.dims = {1, 1, 1, 64};
  command.operands.resize(3);
  command.operands[1].bytes = 256;       // one cycle at 4 * 64 bytes
  command.operands[2].bytes = 32 + 160;  // one cycle
  command.uops = {{UopCode::kLoad, 0, 0, 0, 0, 0},
                  {UopCode::kTable8, 0, 0, 1, 0, 0},
                  {UopCode::kRescale, 0, 0, 2, 1, 0},
                  {UopCode::kStore, 0, 0, 0, 0, 0}};
  // Load 1, lookup 4, rescale 4, store 1.
  EXPECT_EQ(vpu_cycles(command, machine(64)), (Cycles{kFill + 2, 10, kDrain}));
}

TEST(VpuCycles, PassesOfMicroOperations) {
  Capabilities caps = machine(64);
  const auto passes = [&](UopCode op, int32_t imm0 = 0) {
    return uop_passes({op, 0, 0, 0, imm0, 0}, Element::kI8, caps);
  };
  EXPECT_EQ(passes(UopCode::kAdd), 1u);
  EXPECT_EQ(passes(UopCode::kMul), 1u);
  EXPECT_EQ(passes(UopCode::kMul, 31), 2u);
  EXPECT_EQ(passes(UopCode::kTable16), 10u);
  EXPECT_EQ(passes(UopCode::kIntdiv), 34u);
  EXPECT_EQ(passes(UopCode::kTable32), 8u);
  for (uint32_t op = 0; op < contract::kUopCount; ++op) EXPECT_GE(passes(static_cast<UopCode>(op)), 1u);
  constexpr int32_t kPerChannel = 1 << 8;
  EXPECT_EQ(passes(UopCode::kRescale, 1), 4u);
  EXPECT_EQ(passes(UopCode::kRescale, 1 | kPerChannel), 4u);
  caps.vpu_table_pairs = 1;
  EXPECT_EQ(passes(UopCode::kTable16), 5u);
  EXPECT_EQ(passes(UopCode::kTable8), 4u);
  EXPECT_EQ(passes(UopCode::kTable32), 4u);
  caps.vpu_rescale = 1;
  EXPECT_EQ(passes(UopCode::kMul, 31), 1u);
  EXPECT_EQ(passes(UopCode::kRescale, 1), 1u);
  EXPECT_EQ(passes(UopCode::kRescale, 1 | kPerChannel), 4u);
}

TEST(VpuCycles, FloatingPointTakesOnePass) {
  const Capabilities caps = machine(64);
  int floats = 0;
  for (uint32_t code = 0; code < contract::kUopCount; ++code) {
    const auto op = static_cast<UopCode>(code);
    if (!contract::uop_info(op).floats) continue;
    EXPECT_EQ(uop_passes({op, 0, 0, 0, 0, 0}, Element::kF32, caps), 1u) << name(op);
    ++floats;
  }
  EXPECT_EQ(floats, 20);
  // 1,000 elements are 16 vectors of 64: two loads, a sum and a store, whatever the format.
  for (const Element type : {Element::kF16, Element::kBf16, Element::kF32, Element::kF8e4m3, Element::kF8e5m2}) {
    VpuEwiseCommand command;
    command.dims = {1, 2, 10, 50};
    command.operands.resize(3);
    for (contract::Operand& operand : command.operands) operand.type = type;
    command.uops = {{UopCode::kLoad, 0, 0, 0, 0, 0},
                    {UopCode::kLoad, 1, 1, 0, 0, 0},
                    {UopCode::kFadd, 0, 0, 1, static_cast<int32_t>(Element::kF16), 0},
                    {UopCode::kStore, 0, 0, 2, 0, 0}};
    EXPECT_EQ(vpu_cycles(command, caps), (Cycles{kFill, 16 * 4, kDrain})) << name(type);
  }
}

// Of an operand of INT8, INT32 and 48 bits each: which micro-operations begin a group, and its passes.
using Groups = std::vector<std::pair<size_t, uint64_t>>;
Groups groups(const std::vector<Uop>& uops, bool shared = true) {
  Capabilities caps = machine(64);
  caps.vpu_shared_pass = shared ? 1 : 0;
  Groups out;
  size_t next = 0;
  for (const UopGroup& group : uop_groups(uops, std::vector{Element::kI8, Element::kI32, Element::kI48}, caps)) {
    EXPECT_EQ(group.first, next);
    next = group.end();
    out.emplace_back(group.first, group.passes);
  }
  EXPECT_EQ(next, uops.size());
  return out;
}

TEST(VpuCycles, LoadsAndStoresShareAPassWithWhatComputes) {
  const Uop load{UopCode::kLoad, 0, 0, 0, 0, 0}, store{UopCode::kStore, 0, 0, 1, 0, 0};
  const Uop abs{UopCode::kAbs, 0, 0, 0, 0, 0}, product{UopCode::kMul, 0, 0, 0, 31, 0};
  EXPECT_EQ(groups({load, abs, store}), (Groups{{0, 1}, {2, 1}}));  // a pass asks once
  EXPECT_EQ(groups({load, abs, store}, false), (Groups{{0, 1}, {1, 1}, {2, 1}}));
  EXPECT_EQ(groups({load, product, store}), (Groups{{0, 2}}));
  EXPECT_EQ(groups({load, abs, abs, store}), (Groups{{0, 1}, {2, 1}}));
  EXPECT_EQ(groups({load, load, abs}), (Groups{{0, 1}, {1, 1}}));
  EXPECT_EQ(groups({load, store}), (Groups{{0, 1}, {1, 1}}));
  EXPECT_EQ(groups({abs, store, store}), (Groups{{0, 1}, {2, 1}}));
  EXPECT_EQ(groups({load}), (Groups{{0, 1}}));
}

TEST(VpuCycles, OtherRegistersAndWideElementsShareNoPass) {
  const Uop load{UopCode::kLoad, 0, 0, 0, 0, 0}, wide_load{UopCode::kLoad, 0, 2, 0, 0, 0};
  const Uop store{UopCode::kStore, 0, 0, 1, 0, 0}, wide_store{UopCode::kStore, 0, 0, 2, 0, 0};
  const Uop other{UopCode::kAbs, 1, 0, 0, 0, 0}, abs{UopCode::kAbs, 0, 0, 0, 0, 0};
  EXPECT_EQ(groups({load, other, store}), (Groups{{0, 1}, {1, 1}, {2, 1}}));
  EXPECT_EQ(groups({wide_load, abs, store}), (Groups{{0, 2}, {1, 1}}));
  EXPECT_EQ(groups({load, abs, abs, wide_store}), (Groups{{0, 1}, {2, 1}, {3, 2}}));
}

TEST(VpuCycles, Pooling) {
  VpuPoolCommand command;
  command.out_h = command.out_w = 4;
  command.channels = 40;  // 640 elements: 10 vectors
  command.kernel_h = 2;
  command.kernel_w = 3;
  command.mode = PoolMode::kMax;
  EXPECT_EQ(vpu_cycles(command, machine(64)), (Cycles{kFill, 10 * (6 + 1), kDrain}));
  command.mode = PoolMode::kAvg;  // zero point 1, rescale 4, store 1; the parameters take one cycle
  EXPECT_EQ(vpu_cycles(command, machine(64)), (Cycles{kFill + 1, 10 * (32 + 6), kDrain}));
}

TEST(VpuCycles, Reductions) {
  VpuReduceCommand command;
  command.op = ReduceOp::kSum;
  command.outer = 3;
  command.axis = 49;
  command.inner = 100;  // 300 results: 5 vectors, 49 passes and a store each
  EXPECT_EQ(vpu_cycles(command, machine(64)), (Cycles{kFill, 5 * 50, kDrain}));
  command.inner = 1;  // 3 rows of 49 elements: one vector, a tree of 6 levels, a store
  EXPECT_EQ(vpu_cycles(command, machine(64)), (Cycles{kFill, 3 * (1 + 6 + 1), kDrain}));
  command.axis = 1000;  // 16 vectors, a tree over 64 lanes
  command.op = ReduceOp::kArgmax;
  EXPECT_EQ(vpu_cycles(command, machine(64)), (Cycles{kFill, 3 * ((16 + 6) * 2 + 1), kDrain}));
  Capabilities caps = machine(64);
  caps.vpu_tree = 1;
  EXPECT_EQ(vpu_cycles(command, caps), vpu_cycles(command, machine(64)));
  command.op = ReduceOp::kProduct;
  EXPECT_EQ(vpu_cycles(command, caps), vpu_cycles(command, machine(64)));
  for (const ReduceOp op : {ReduceOp::kSum, ReduceOp::kMax, ReduceOp::kMin, ReduceOp::kAll, ReduceOp::kAny}) {
    command.op = op;
    command.outer = 130;  // 16 vectors of each row; the results in three stores
    EXPECT_EQ(vpu_cycles(command, caps), (Cycles{kFill, 130 * 16 + 3, kDrain}));
  }
  command.inner = 2;  // along the axis, as without
  EXPECT_EQ(vpu_cycles(command, caps), vpu_cycles(command, machine(64)));
}

TEST(VpuCycles, NothingTakesNone) {
  EXPECT_EQ(vpu_cycles(VpuEwiseCommand{}, machine(64)), Cycles{});
  EXPECT_EQ(vpu_cycles(VpuPoolCommand{}, machine(64)), Cycles{});
  EXPECT_EQ(vpu_cycles(VpuReduceCommand{}, machine(64)), Cycles{});
}

DmaCommand dma_copy(uint32_t run, std::array<uint32_t, 5> count, std::array<int32_t, 5> src,
                    std::array<int32_t, 5> dst) {
  DmaCommand command;
  command.run_bytes = run;
  command.count = count;
  command.src_stride = src;
  command.dst_stride = dst;
  return command;
}

TEST(DmaCycles, ContiguousPiecesMerge) {
  // 10 rows of 3 pixels of 20 bytes, dense on both sides: one piece of 600 bytes, 38 beats of 16.
  const DmaCommand dense = dma_copy(20, {1, 1, 1, 10, 3}, {0, 0, 0, 60, 20}, {0, 0, 0, 60, 20});
  EXPECT_EQ(dma_bytes(dense), 600u);
  EXPECT_EQ(dma_pieces(dense), 1u);
  EXPECT_EQ(dma_cycles(dense, machine(64)).steady, 38u);
  // Rows apart in the destination: ten pieces of 60 bytes, 4 beats each.
  const DmaCommand rows = dma_copy(20, {1, 1, 1, 10, 3}, {0, 0, 0, 60, 20}, {0, 0, 0, 64, 20});
  EXPECT_EQ(dma_pieces(rows), 10u);
  EXPECT_EQ(dma_cycles(rows, machine(64)).steady, 40u);
  // Pixels apart in the source: thirty pieces, although rows follow each other.
  const DmaCommand pixels = dma_copy(20, {1, 1, 1, 10, 3}, {0, 0, 0, 120, 40}, {0, 0, 0, 60, 20});
  EXPECT_EQ(dma_pieces(pixels), 30u);
  EXPECT_EQ(dma_bytes(pixels), 600u);
}

TEST(DmaCycles, FillHasNoSource) {
  DmaCommand fill = dma_copy(16, {1, 1, 1, 1, 8}, {}, {0, 0, 0, 0, 16});
  fill.mode = contract::DmaMode::kFill;
  EXPECT_EQ(dma_pieces(fill), 1u);
  EXPECT_EQ(dma_cycles(fill, machine(64)).steady, 8u);
}

}  // namespace
}  // namespace npu::timing
