// SPDX-License-Identifier: Apache-2.0
#include "hw/engine/box.h"

#include <algorithm>

#include "hw/contract/error.h"

namespace npu::engine {

namespace {

using contract::ErrorCode;

// Farther than any memory of a device; sums of extents below it cannot overflow.
constexpr int64_t kFar = int64_t{1} << 40;

struct Dimension {
  uint64_t stride, count;
  [[nodiscard]] uint64_t span() const { return stride * (count - 1); }
};

// The box as ascending, positive strides around merged runs.
struct Runs {
  int64_t low = 0;  // first byte, relative to the base address
  uint64_t run = 0;
  std::array<Dimension, 4> outer{};
  size_t outer_count = 0;
  uint64_t count = 1;  // of runs; saturates above kMaxRuns
  uint64_t extent = 0;
  bool disjoint = true;
  bool far = false;
};

Runs find_runs(const Box& box) {
  Runs runs;
  runs.low = box.offset;
  runs.far = box.run > static_cast<uint64_t>(kFar) || box.offset > kFar || box.offset < -kFar;
  std::array<Dimension, 4> dims{};
  size_t used = 0;
  for (size_t i = 0; i < box.count.size(); ++i) {
    if (box.count[i] <= 1) continue;
    if (box.stride[i] == 0) {
      runs.disjoint = false;
      continue;
    }
    const bool reversed = box.stride[i] < 0;
    const Dimension dim = {static_cast<uint64_t>(reversed ? -box.stride[i] : box.stride[i]), box.count[i]};
    if (dim.count > static_cast<uint64_t>(kFar) || dim.stride > static_cast<uint64_t>(kFar) / dim.count) {
      runs.far = true;
      runs.low = reversed ? -kFar : runs.low;
      return runs;
    }
    if (reversed) runs.low -= static_cast<int64_t>(dim.span());
    size_t at = used++;
    for (; at > 0 && dims[at - 1].stride > dim.stride; --at) dims[at] = dims[at - 1];
    dims[at] = dim;
  }

  runs.run = runs.extent = box.run;
  for (size_t i = 0; i < used; ++i) {
    const Dimension& dim = dims[i];
    if (dim.stride < runs.extent) runs.disjoint = false;
    runs.extent += dim.span();
    if (runs.outer_count == 0 && dim.stride <= runs.run) {
      runs.run += dim.span();
      continue;
    }
    runs.outer[runs.outer_count++] = dim;
    runs.count = runs.count > kMaxRuns / dim.count ? kMaxRuns + 1 : runs.count * dim.count;
  }
  return runs;
}

}  // namespace

Resolved resolve_box(const Box& box, MemoryView& memory, Access access, bool disjoint) {
  const Runs runs = find_runs(box);
  if (runs.far) {
    // No memory is that large: the view refuses and records the fault.
    const int64_t low = std::clamp(runs.low, -kFar, kFar);
    const std::span<uint8_t> none = memory.resolve(box.base, low, low + 2 * kFar, access);
    NPU_CHECK(none.empty());
    return {nullptr, ErrorCode::kFaultOutOfBounds};
  }
  if ((disjoint && !runs.disjoint) || runs.count > kMaxRuns) return {nullptr, ErrorCode::kFaultBadCommand};

  std::array<uint64_t, 4> index{};
  uint8_t* first = nullptr;
  for (uint64_t i = 0; i < runs.count; ++i) {
    uint64_t offset = 0;
    for (size_t d = 0; d < runs.outer_count; ++d) offset += index[d] * runs.outer[d].stride;
    const int64_t low = runs.low + static_cast<int64_t>(offset);
    const std::span<uint8_t> bytes = memory.resolve(box.base, low, low + static_cast<int64_t>(runs.run), access);
    if (bytes.empty()) return {nullptr, ErrorCode::kFaultOutOfBounds};
    NPU_CHECK(bytes.size() == runs.run);
    if (i == 0) first = bytes.data();
    NPU_CHECK(bytes.data() == first + offset);
    for (size_t d = 0; d < runs.outer_count && ++index[d] == runs.outer[d].count; ++d) index[d] = 0;
  }
  return {first + (box.offset - runs.low), ErrorCode::kOk};
}

}  // namespace npu::engine
