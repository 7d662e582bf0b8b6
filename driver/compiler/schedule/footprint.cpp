// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/schedule/footprint.h"

#include <cstdlib>
#include <map>

#include "hw/contract/error.h"

namespace npu::compiler::backend {
namespace {

using contract::Address;
using contract::element_bytes;
using contract::Region;
using contract::UopCode;
using Dim = ByteSet::Dim;

class Collector {
 public:
  void operator()(const contract::DmaCommand& c) {
    std::array<Dim, 5> src, dst;
    for (size_t i = 0; i < 5; ++i) {
      src[i] = {c.count[i], c.src_stride[i]};
      dst[i] = {c.count[i], c.dst_stride[i]};
    }
    if (c.mode == contract::DmaMode::kCopy) add(c.src, false, c.run_bytes, src);
    add(c.dst, true, c.run_bytes, dst);
    commit_ = c.commit;
  }

  void operator()(const contract::MxuCommand& c) {
    add(c.src, false, int64_t{c.in_c} * element_bytes(c.src_type),
        std::array{Dim{c.in_h, c.src_row_stride}, Dim{c.in_w, c.src_pixel_stride}});
    const int64_t unit = element_bytes(c.weight_type), window = int64_t{c.kernel_h} * c.kernel_w;
    switch (c.mode) {
      case contract::MxuMode::kConv:
        add(c.weights, false, window * c.in_c * unit, std::array{Dim{c.out_c, c.w_stride}});
        break;
      case contract::MxuMode::kDepthwise:
        add(c.weights, false, c.out_c * unit, std::array{Dim{window, c.w_stride}});
        break;
      case contract::MxuMode::kMatmul:
        add(c.weights, false, c.out_c * unit, std::array{Dim{c.in_c, c.w_stride}});
        break;
    }
    const int64_t entries = int64_t{c.out_c} * contract::ParameterEntry::kBytes;
    add(c.params, false, contract::ParameterHeader::kBytes + entries, {});
    add(c.dst, true, int64_t{c.out_c} * element_bytes(c.dst_type),
        std::array{Dim{c.out_h, c.dst_row_stride}, Dim{c.out_w, c.dst_pixel_stride}});
  }

  void operator()(const contract::VpuEwiseCommand& c) {
    commit_ = c.commit;
    uint32_t read = 0, written = 0;
    for (const contract::Uop& uop : c.uops) {
      if (uop.op == UopCode::kLoad) read |= 1u << uop.a;
      if (uop.op == UopCode::kStore) written |= 1u << uop.b;
      if (uop.op == UopCode::kRescale || uop.op == UopCode::kTable8 || uop.op == UopCode::kTable16) read |= 1u << uop.b;
    }
    for (size_t i = 0; i < c.operands.size(); ++i) {
      const contract::Operand& o = c.operands[i];
      std::array<Dim, 4> dims;
      for (size_t d = 0; d < 4; ++d) dims[d] = {c.dims[d], o.stride[d]};
      for (const bool write : {false, true}) {
        if (((write ? written : read) >> i & 1) == 0) continue;
        if (o.bytes > 0) {
          add(o.base, write, o.bytes, {});
        } else {
          add(o.base, write, element_bytes(o.type), dims);
        }
      }
    }
  }

  void operator()(const contract::VpuPoolCommand& c) {
    const int64_t run = int64_t{c.channels} * element_bytes(c.type);
    add(c.src, false, run, std::array{Dim{c.in_h, c.src_row_stride}, Dim{c.in_w, c.src_pixel_stride}});
    if (c.mode == contract::PoolMode::kAvg) add(c.params, false, contract::ParameterHeader::kBytes, {});
    add(c.dst, true, run, std::array{Dim{c.out_h, c.dst_row_stride}, Dim{c.out_w, c.dst_pixel_stride}});
  }

  void operator()(const contract::VpuReduceCommand& c) {
    const contract::Element result = c.op == contract::ReduceOp::kArgmax ? contract::Element::kI32 : c.type;
    add(c.src, false, int64_t{c.inner} * element_bytes(c.type),
        std::array{Dim{c.outer, c.src_outer_stride}, Dim{c.axis, c.src_axis_stride}});
    add(c.dst, true, int64_t{c.inner} * element_bytes(result), std::array{Dim{c.outer, c.dst_outer_stride}});
  }

  void operator()(const contract::DeclareCommand&) {}

  // The table entries of the variables in `sets`, each once.
  void add_entries() {
    std::map<uint32_t, bool> completed;  // by space
    for (const ByteSet& set : sets) {
      if (set.space >= kVariableSpace) completed[set.space] |= commit_ && set.write;
    }
    for (const auto& [space, write] : completed) {
      ByteSet entry;
      entry.space = kEntrySpace;
      entry.write = write;
      entry.low = space - kVariableSpace;
      entry.high = entry.low + 1;
      entry.run = 1;
      sets.push_back(entry);
    }
  }

  std::vector<ByteSet> sets;

 private:
  void add(const Address& base, bool write, int64_t run, std::span<const Dim> dims) {
    ByteSet set;
    switch (base.region) {
      case Region::kScratchpad:
        set.space = kScratchpadSpace;
        break;
      case Region::kWorkspace:
        set.space = kWorkspaceSpace;
        break;
      case Region::kOutput:
        set.space = kOutputSpace;
        break;
      case Region::kVariable:
        set.space = kVariableSpace + base.variable;
        break;
      case Region::kSave:
      case Region::kConstants:
      case Region::kInput:
        NPU_CHECK(!write);
        return;
    }
    set.write = write;
    set.low = base.offset;
    set.run = run;
    int64_t extent = run;
    std::array<Dim, 5> sorted;  // by stride
    size_t count = 0;
    for (const Dim& dim : dims) {
      if (dim.count <= 1 || dim.stride == 0) continue;
      if (dim.stride < 0) set.low += dim.stride * (dim.count - 1);
      const Dim positive{dim.count, std::abs(dim.stride)};
      size_t at = count++;
      for (; at > 0 && sorted[at - 1].stride > positive.stride; --at) sorted[at] = sorted[at - 1];
      sorted[at] = positive;
    }
    for (size_t i = 0; i < count; ++i) {
      const Dim& dim = sorted[i];
      extent += dim.stride * (dim.count - 1);
      if (set.rank == 0 && dim.stride <= set.run) {
        set.run += dim.stride * (dim.count - 1);
      } else if (set.rank > 0 && dim.stride == set.dims[set.rank - 1].stride * set.dims[set.rank - 1].count) {
        set.dims[set.rank - 1].count *= dim.count;
      } else {
        set.dims[set.rank++] = dim;
      }
    }
    set.high = set.low + extent;
    sets.push_back(set);
  }

  bool commit_ = false;
};

}  // namespace

std::vector<ByteSet> footprint(const Body& body) {
  Collector collector;
  std::visit([&](const auto& command) { collector(command); }, body);
  collector.add_entries();
  return std::move(collector.sets);
}

bool may_conflict(const std::vector<ByteSet>& a, const std::vector<ByteSet>& b) {
  for (const ByteSet& x : a) {
    for (const ByteSet& y : b) {
      if (x.space == y.space && (x.write || y.write) && x.low < y.high && y.low < x.high) return true;
    }
  }
  return false;
}

}  // namespace npu::compiler::backend
