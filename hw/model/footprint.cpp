// SPDX-License-Identifier: Apache-2.0
#include "hw/model/footprint.h"

#include <algorithm>

namespace npu::model {

namespace {

using contract::Element;
using contract::element_bytes;
using contract::MxuMode;
using contract::UopCode;
using engine::Access;

constexpr uint64_t kSaturated = uint64_t{1} << 63;

uint64_t multiply(uint64_t a, uint64_t b) {
  uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) || product > kSaturated ? kSaturated : product;
}

// A box [rows][pixels] of `run` contiguous bytes.
StridedAccess box(const contract::Address& base, Access access, uint64_t rows, int64_t row_stride, uint64_t pixels,
                  int64_t pixel_stride, uint64_t run) {
  StridedAccess result;
  result.base = base;
  result.access = access;
  result.run = run;
  result.dims[3] = {rows, row_stride};
  result.dims[4] = {pixels, pixel_stride};
  return result;
}

// Rows (or pixels) [first, first + count) of an input box that some window reaches.
struct Used {
  uint64_t first = 0, count = 0;
};

Used used(uint32_t in, uint32_t out, uint32_t stride, int32_t pad, uint32_t kernel, uint32_t dilation) {
  const int64_t begin = std::max<int64_t>(0, -int64_t{pad});
  const int64_t last_window = int64_t{out - 1} * stride - pad;
  const int64_t end = std::min<int64_t>(in, last_window + int64_t{kernel - 1} * dilation + 1);
  if (begin >= end) return {};
  return {static_cast<uint64_t>(begin), static_cast<uint64_t>(end - begin)};
}

void add_window(const contract::Address& base, Used rows, int64_t row_stride, Used pixels, int64_t pixel_stride,
                uint64_t run, std::vector<StridedAccess>& out) {
  if (rows.count == 0 || pixels.count == 0) return;  // windows in the padding alone
  StridedAccess access = box(base, Access::kRead, rows.count, row_stride, pixels.count, pixel_stride, run);
  access.first = static_cast<int64_t>(rows.first) * row_stride + static_cast<int64_t>(pixels.first) * pixel_stride;
  out.push_back(access);
}

StridedAccess dense(const contract::Address& base, uint64_t bytes) {
  return box(base, Access::kRead, 1, 0, 1, 0, bytes);
}

void collect(const contract::DmaCommand& dma, Footprint& footprint) {
  StridedAccess read, write;
  read.base = dma.src;
  write.base = dma.dst;
  write.access = Access::kWrite;
  write.commit = dma.commit;
  read.run = write.run = dma.run_bytes;
  for (uint32_t i = 0; i < 5; ++i) {
    // The stride of a dimension of one index means nothing.
    read.dims[i] = {dma.count[i], dma.count[i] > 1 ? dma.src_stride[i] : 0};
    write.dims[i] = {dma.count[i], dma.count[i] > 1 ? dma.dst_stride[i] : 0};
  }
  if (dma.mode == contract::DmaMode::kCopy) {
    read.in_place = read.same_walk(write);
    footprint.accesses.push_back(read);
  }
  footprint.accesses.push_back(write);
}

void collect(const contract::MxuCommand& mxu, Footprint& footprint) {
  const uint64_t src_bytes = element_bytes(mxu.src_type);
  const uint64_t weight_bytes = element_bytes(mxu.weight_type);
  const uint64_t kernel = uint64_t{mxu.kernel_h} * mxu.kernel_w;
  auto& out = footprint.accesses;
  const bool windowed = mxu.mode != MxuMode::kMatmul;
  const Used rows =
      windowed ? used(mxu.in_h, mxu.out_h, mxu.stride_y, mxu.pad_top, mxu.kernel_h, mxu.dilation_y) : Used{0, mxu.in_h};
  const Used columns = windowed ? used(mxu.in_w, mxu.out_w, mxu.stride_x, mxu.pad_left, mxu.kernel_w, mxu.dilation_x)
                                : Used{0, mxu.in_w};
  add_window(mxu.src, rows, mxu.src_row_stride, columns, mxu.src_pixel_stride, multiply(mxu.in_c, src_bytes), out);
  uint64_t reduction = 0;
  switch (mxu.mode) {
    case MxuMode::kConv:
      reduction = multiply(kernel, mxu.in_c);
      out.push_back(box(mxu.weights, Access::kRead, 1, 0, mxu.out_c, mxu.w_stride, multiply(reduction, weight_bytes)));
      break;
    case MxuMode::kDepthwise:
      reduction = kernel;
      out.push_back(box(mxu.weights, Access::kRead, 1, 0, kernel, mxu.w_stride, multiply(mxu.out_c, weight_bytes)));
      break;
    case MxuMode::kMatmul:
      reduction = mxu.in_c;
      out.push_back(box(mxu.weights, Access::kRead, 1, 0, mxu.in_c, mxu.w_stride, multiply(mxu.out_c, weight_bytes)));
      break;
  }
  out.push_back(
      dense(mxu.params, contract::ParameterHeader::kBytes + uint64_t{mxu.out_c} * contract::ParameterEntry::kBytes));
  out.push_back(box(mxu.dst, Access::kWrite, mxu.out_h, mxu.dst_row_stride, mxu.out_w, mxu.dst_pixel_stride,
                    multiply(mxu.out_c, element_bytes(mxu.dst_type))));
  footprint.work = multiply(multiply(multiply(mxu.out_h, mxu.out_w), mxu.out_c), reduction);
}

StridedAccess operand_access(const contract::VpuEwiseCommand& command, const contract::Operand& operand) {
  if (operand.bytes > 0) return dense(operand.base, operand.bytes);
  StridedAccess result;
  result.base = operand.base;
  result.run = element_bytes(operand.type);
  for (uint32_t i = 0; i < 4; ++i) {
    result.dims[i + 1] = {command.dims[i], command.dims[i] > 1 ? operand.stride[i] : 0};
  }
  return result;
}

// What the micro-operations do with an operand.
struct OperandUse {
  bool read = false, written = false;
  size_t last_load = 0, first_store = 0;  // micro-operations, if there are any
};

std::vector<OperandUse> uses_of(const contract::VpuEwiseCommand& command) {
  std::vector<OperandUse> uses(command.operands.size());
  for (size_t i = 0; i < command.uops.size(); ++i) {
    const contract::Uop& uop = command.uops[i];
    switch (uop.op) {
      case UopCode::kLoad:
        uses[uop.a].read = true;
        uses[uop.a].last_load = i;
        break;
      case UopCode::kStore:
        if (!uses[uop.b].written) uses[uop.b].first_store = i;
        uses[uop.b].written = true;
        break;
      case UopCode::kRescale:
      case UopCode::kTable8:
      case UopCode::kTable16:
        uses[uop.b].read = true;
        break;
      default:
        break;
    }
  }
  return uses;
}

// Whether operand `i` is read from where others are stored to, and all of it before any of them: a load behind the
// store would depend on how far the store has come.
bool in_place(const contract::VpuEwiseCommand& command, const std::vector<OperandUse>& uses, uint32_t i) {
  const StridedAccess read = operand_access(command, command.operands[i]);
  bool meets = false;
  for (uint32_t other = 0; other < uses.size(); ++other) {
    if (!uses[other].written || !read.same_walk(operand_access(command, command.operands[other]))) continue;
    if (uses[i].last_load > uses[other].first_store) return false;
    meets = true;
  }
  return meets;
}

void collect(const contract::VpuEwiseCommand& command, Footprint& footprint) {
  const std::vector<OperandUse> uses = uses_of(command);
  for (uint32_t i = 0; i < uses.size(); ++i) {
    if (!uses[i].read) continue;
    StridedAccess access = operand_access(command, command.operands[i]);
    access.in_place = in_place(command, uses, i);
    footprint.accesses.push_back(access);
  }
  for (uint32_t i = 0; i < uses.size(); ++i) {
    if (!uses[i].written) continue;
    StridedAccess access = operand_access(command, command.operands[i]);
    access.access = Access::kWrite;
    access.commit = command.commit;
    footprint.accesses.push_back(access);
  }
  footprint.work = command.uops.size();
  for (uint32_t dim : command.dims) footprint.work = multiply(footprint.work, dim);
}

void collect(const contract::VpuPoolCommand& pool, Footprint& footprint) {
  const uint64_t run = multiply(pool.channels, element_bytes(pool.type));
  auto& out = footprint.accesses;
  add_window(pool.src, used(pool.in_h, pool.out_h, pool.stride_y, pool.pad_top, pool.kernel_h, 1), pool.src_row_stride,
             used(pool.in_w, pool.out_w, pool.stride_x, pool.pad_left, pool.kernel_w, 1), pool.src_pixel_stride, run,
             out);
  if (pool.mode == contract::PoolMode::kAvg) out.push_back(dense(pool.params, contract::ParameterHeader::kBytes));
  out.push_back(box(pool.dst, Access::kWrite, pool.out_h, pool.dst_row_stride, pool.out_w, pool.dst_pixel_stride, run));
  footprint.work =
      multiply(multiply(multiply(pool.out_h, pool.out_w), pool.channels), uint64_t{pool.kernel_h} * pool.kernel_w);
}

void collect(const contract::VpuReduceCommand& reduce, Footprint& footprint) {
  const uint64_t src_run = multiply(reduce.inner, element_bytes(reduce.type));
  const bool argmax = reduce.op == contract::ReduceOp::kArgmax;
  const uint64_t dst_run = multiply(reduce.inner, element_bytes(argmax ? Element::kI32 : reduce.type));
  footprint.accesses.push_back(box(reduce.src, Access::kRead, reduce.outer, reduce.src_outer_stride, reduce.axis,
                                   reduce.src_axis_stride, src_run));
  footprint.accesses.push_back(box(reduce.dst, Access::kWrite, reduce.outer, reduce.dst_outer_stride, 1, 0, dst_run));
  footprint.work = multiply(multiply(reduce.outer, reduce.axis), reduce.inner);
}

template <class Other>
void collect(const Other&, Footprint&) {}  // begin, end, declare, yield touch no memory

}  // namespace

uint64_t StridedAccess::total_bytes() const {
  uint64_t total = run;
  for (const Dim& dim : dims) total = multiply(total, dim.count);
  return total;
}

void collect_footprint(const DecodedCommand& command, Footprint& footprint) {
  std::visit([&](const auto& decoded) { collect(decoded, footprint); }, command);
}

uint64_t ByteSet::runs() const {
  uint64_t total = 1;
  for (uint32_t i = 0; i < rank; ++i) total = multiply(total, dims[i].count);
  return total;
}

bool span_of(const StridedAccess& access, int64_t& low, int64_t& high) {
  constexpr uint64_t kBeyond = uint64_t{1} << 33;  // no region is longer than 2^32
  if (access.run > kBeyond) return false;
  low = access.first;
  high = access.first + static_cast<int64_t>(access.run);
  for (const auto& dim : access.dims) {
    const uint64_t step = static_cast<uint64_t>(dim.stride < 0 ? -dim.stride : dim.stride);
    const uint64_t reach = multiply(step, dim.count - 1);
    if (reach > kBeyond) return false;
    (dim.stride < 0 ? low : high) += dim.stride < 0 ? -static_cast<int64_t>(reach) : static_cast<int64_t>(reach);
  }
  return true;
}

bool byte_set(const StridedAccess& access, uint64_t base, ByteSet& set) {
  const bool write = access.access == Access::kWrite;
  int64_t low = access.first;
  set.rank = 0;
  for (auto dim = access.dims.rbegin(); dim != access.dims.rend(); ++dim) {
    if (dim->count <= 1) continue;
    if (dim->stride == 0) {
      if (write) return false;
      continue;
    }
    if (dim->stride < 0) low += dim->stride * static_cast<int64_t>(dim->count - 1);
    const auto stride = static_cast<uint64_t>(dim->stride < 0 ? -dim->stride : dim->stride);
    set.dims[set.rank++] = {dim->count, stride};
  }
  std::sort(set.dims.begin(), set.dims.begin() + set.rank,
            [](const ByteSet::Dim& a, const ByteSet::Dim& b) { return a.stride < b.stride; });
  set.low = base + static_cast<uint64_t>(low);
  set.run = access.run;
  uint32_t kept = 0;
  uint64_t extent = access.run;  // from the first to the last byte of what was looked at
  for (uint32_t i = 0; i < set.rank; ++i) {
    const ByteSet::Dim dim = set.dims[i];
    if (write && dim.stride < set.run) return false;
    extent += dim.stride * (dim.count - 1);
    if (kept == 0 && dim.stride <= set.run) {
      set.run = dim.stride * (dim.count - 1) + set.run;
    } else if (kept > 0 && dim.stride == set.dims[kept - 1].stride * set.dims[kept - 1].count) {
      set.dims[kept - 1].count *= dim.count;
    } else {
      set.dims[kept++] = dim;
    }
  }
  set.rank = kept;
  set.high = set.low + extent;
  return true;
}

}  // namespace npu::model
