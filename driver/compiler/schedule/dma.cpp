// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/schedule/dma.h"

#include "driver/compiler/schedule/dims.h"
#include "driver/compiler/schedule/dram.h"

namespace npu::compiler::backend {
namespace {

constexpr size_t kOuter = 5;  // outer dimensions of a DMA command

// `it` has the destination's strides first, the source's (if any) second.
void emit(Iteration it, contract::DmaCommand command, int64_t unit, std::vector<contract::DmaCommand>& out) {
  it.simplify(false);
  const bool copy = it.strides.size() == 2;
  int64_t run = unit;
  if (it.strides[0].back() == unit && (!copy || it.strides[1].back() == unit)) {
    run *= it.dims.back();
    it.dims.pop_back();
    for (auto& s : it.strides) s.pop_back();
  }
  command.run_bytes = static_cast<uint32_t>(field32(run));
  const size_t rank = it.dims.size(), loops = rank > kOuter ? rank - kOuter : 0;
  command.count.fill(1);
  for (size_t d = loops; d < rank; ++d) {
    const size_t field = kOuter - rank + d;
    command.count[field] = static_cast<uint32_t>(field32(it.dims[d]));
    command.dst_stride[field] = field32(it.strides[0][d]);
    if (copy) command.src_stride[field] = field32(it.strides[1][d]);
  }
  std::vector<int64_t> index(loops);
  const contract::Address src = command.src, dst = command.dst;
  for (;;) {
    int64_t src_bytes = 0, dst_bytes = 0;
    for (size_t d = 0; d < loops; ++d) {
      dst_bytes += index[d] * it.strides[0][d];
      if (copy) src_bytes += index[d] * it.strides[1][d];
    }
    command.dst = moved(dst, dst_bytes);
    if (copy) command.src = moved(src, src_bytes);
    check_command_count(out.size() + 1);
    out.push_back(command);
    size_t d = loops;
    while (d > 0 && ++index[d - 1] == it.dims[d - 1]) index[--d] = 0;
    if (d == 0) return;
  }
}

}  // namespace

void dma_copy(std::span<const int64_t> counts, const Placed& src, const Placed& dst, int64_t unit,
              std::vector<contract::DmaCommand>& out) {
  contract::DmaCommand command;
  command.src = src.address;
  command.dst = dst.address;
  emit({{counts.begin(), counts.end()}, {dst.strides, src.strides}}, command, unit, out);
}

void dma_fill(std::span<const int64_t> counts, const Placed& dst, int64_t unit, uint64_t value,
              std::vector<contract::DmaCommand>& out) {
  contract::DmaCommand command;
  command.mode = contract::DmaMode::kFill;
  command.dst = dst.address;
  command.fill_bytes = static_cast<uint32_t>(unit);
  command.fill_value_lo = static_cast<uint32_t>(value);
  command.fill_value_hi = static_cast<uint32_t>(value >> 32);
  emit({{counts.begin(), counts.end()}, {dst.strides}}, command, unit, out);
}

}  // namespace npu::compiler::backend
