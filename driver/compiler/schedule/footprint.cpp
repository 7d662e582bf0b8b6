// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/schedule/footprint.h"

#include <cstdlib>
#include <map>

#include "hw/contract/error.h"
#include "hw/contract/gen/accesses.h"

namespace npu::compiler::backend {
namespace {

using contract::Region;
using Dim = ByteSet::Dim;

class Collector {
 public:
  template <typename Command>
  void operator()(const Command& command) {
    for_each_access(command, [&](const contract::MemoryAccess& access) {
      commit_ |= access.commit;
      add(access);
    });
  }

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
  void add(const contract::MemoryAccess& access) {
    const bool write = access.access == contract::Access::kWrite;
    ByteSet set;
    switch (access.base.region) {
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
        set.space = kVariableSpace + access.base.variable;
        break;
      case Region::kSave:
      case Region::kConstants:
      case Region::kInput:
      case Region::kResident:
        NPU_CHECK(!write);
        return;
    }
    set.write = write;
    set.low = access.base.offset + access.first;
    set.run = static_cast<int64_t>(access.run);
    if (access.moves != contract::MemoryAccess::kAll) set.moves = static_cast<int64_t>(access.moves);
    int64_t extent = set.run;
    std::array<Dim, ByteSet::kMaxRank> sorted;  // by stride
    size_t count = 0;
    for (const auto& [indices, stride] : access.dims) {
      const Dim dim{static_cast<int64_t>(indices), stride};
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

}  // namespace npu::compiler::backend
