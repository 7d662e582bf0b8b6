// SPDX-License-Identifier: Apache-2.0
#include "hw/model/footprint.h"

#include <algorithm>
#include <span>
#include <variant>

#include "hw/contract/gen/accesses.h"
#include "hw/contract/queues.h"

namespace npu::model {

static_assert(contract::MemoryAccess::kMaxRank <= ByteSet::kMaxRank);

namespace {

using contract::Access;
using contract::saturating_product;
using contract::VpuEwiseCommand;

// Whether operand `i` is read from where others are stored to, and all of it before any of them: a load behind the
// store would depend on how far the store has come.
bool in_place(const VpuEwiseCommand& command, std::span<const contract::OperandUse> uses, size_t i,
              const StridedAccess& read) {
  bool meets = false;
  for (size_t other = 0; other < command.operands.size(); ++other) {
    const auto written = [&] { return StridedAccess{access_of(command, command.operands[other], Access::kWrite)}; };
    if (!uses[other].written || !read.same_walk(written())) continue;
    if (uses[i].last_load > uses[other].first_store) return false;
    meets = true;
  }
  return meets;
}

uint32_t stores_to(const VpuEwiseCommand& command, size_t operand) {
  return static_cast<uint32_t>(std::count_if(command.uops.begin(), command.uops.end(), [&](const contract::Uop& uop) {
    const contract::NamedOperand named = operand_of(uop);
    return named.role == contract::UopRole::kStored && named.index == operand;
  }));
}

// What the contract's accesses do not say. Reads that are in place: a copy and an operand of vpu_ewise may read the
// bytes that they write, and no other. And how often a program stores to an operand.
template <contract::SequencerCommand Command>
void annotate(const Command&, Footprint&) {}
template <contract::TileCommand Command>
void annotate(const Command&, Footprint&) {}

// A copy onto itself, or what a scatter leaves as it is: a gather reads in another order than it writes.
void annotate(const contract::DmaCommand& command, Footprint& footprint) {
  const bool copies = command.mode == contract::DmaMode::kCopy;
  for (StridedAccess& access : footprint) {
    access.in_place =
        access.access == Access::kRead && (copies || access.moves == 0) && access.same_walk(footprint.back());
  }
}

void annotate(const VpuEwiseCommand& command, Footprint& footprint) {
  const auto uses = operand_uses(command);
  auto access = footprint.begin();
  for (size_t i = 0; i < command.operands.size(); ++i) {
    if (!uses[i].read) continue;
    access->in_place = in_place(command, uses, i, *access);
    ++access;
  }
  for (size_t i = 0; i < command.operands.size(); ++i) {
    if (!uses[i].written) continue;
    access->times = stores_to(command, i);
    ++access;
  }
}

template <typename Command>
void collect(const Command& command, Footprint& footprint) {
  for_each_access(command, [&](const contract::MemoryAccess& access) { footprint.push_back({access}); });
  annotate(command, footprint);
}

void collect(const Skipped&, Footprint&) {}

void collect(const engine::Tile& tile, Footprint& footprint) {
  std::visit([&](const auto& kind) { collect(kind.command, footprint); }, tile);
}

}  // namespace

uint64_t StridedAccess::total_bytes() const {
  if (moves != kAll) return moves;
  uint64_t total = saturating_product(run, times);
  for (const Dim& dim : dims) total = saturating_product(total, dim.count);
  return total;
}

void collect_footprint(const DecodedCommand& command, Footprint& footprint) {
  std::visit([&](const auto& decoded) { collect(decoded, footprint); }, command);
}

uint64_t ByteSet::runs() const {
  uint64_t total = 1;
  for (uint32_t i = 0; i < rank; ++i) total = saturating_product(total, dims[i].count);
  return total;
}

bool span_of(const StridedAccess& access, int64_t& low, int64_t& high) {
  constexpr uint64_t kBeyond = uint64_t{1} << 33;  // no region is longer than 2^32
  if (access.run > kBeyond) return false;
  low = access.first;
  high = access.first + static_cast<int64_t>(access.run);
  for (const auto& dim : access.dims) {
    const uint64_t step = static_cast<uint64_t>(dim.stride < 0 ? -dim.stride : dim.stride);
    const uint64_t reach = saturating_product(step, dim.count - 1);
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
