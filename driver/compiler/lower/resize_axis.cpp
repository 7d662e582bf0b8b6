// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/lower/resize_axis.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>

#include "hw/contract/error.h"

namespace npu::compiler {
namespace {

using Segments = std::vector<ResizeSegment>;

// Some stride up to the square root of the positions leaves about as few segments for each of its phases (Dirichlet's
// theorem), and 128 squared is as many positions as an image may have.
constexpr int64_t kMostPhases = 128;

int64_t floor_quotient(int64_t a, int64_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

// Positions [out, out + repeat) of the result, which read the same.
struct Item {
  int64_t out = 0, repeat = 1;
};

class SegmentFinder {
 public:
  explicit SegmentFinder(const ResizeAxis& axis) : axis_(axis) {}

  // Adds the longest even walks over the items, in their order.
  void add(std::span<const Item> items) {
    for (size_t begin = 0; begin < items.size();) {
      const size_t end = end_of_walk(items, begin);
      segments_.push_back(segment(items.subspan(begin, end - begin)));
      begin = end;
    }
  }

  [[nodiscard]] Segments take() { return std::move(segments_); }

 private:
  [[nodiscard]] const ResizeSample& sample(int64_t out) const { return axis_.samples[static_cast<size_t>(out)]; }
  [[nodiscard]] int64_t first(const Item& item) const { return sample(item.out).first; }
  [[nodiscard]] bool blends(const Item& item) const {
    for (int64_t j = 0; j < item.repeat; ++j) {
      if (sample(item.out + j).weight != 0) return true;
    }
    return false;
  }

  [[nodiscard]] size_t end_of_walk(std::span<const Item> items, size_t begin) const {
    bool blend = blends(items[begin]);
    size_t end = begin + 1;
    while (end < items.size() && items[end].repeat == items[begin].repeat) {
      const Item &next = items[end], &last = items[end - 1];
      if (end > begin + 1) {
        const Item& before = items[end - 2];
        if (next.out - last.out != last.out - before.out) break;
        if (first(next) - first(last) != first(last) - first(before)) break;
      }
      // Nothing lies behind the last position of the operand.
      if (blend && first(next) == axis_.in - 1) break;
      blend = blend || blends(next);
      ++end;
    }
    return end;
  }

  [[nodiscard]] ResizeSegment segment(std::span<const Item> items) const {
    ResizeSegment s;
    s.out = items[0].out;
    s.repeat = items[0].repeat;
    s.count = std::ssize(items);
    s.first = first(items[0]);
    s.out_step = s.repeat;
    if (items.size() > 1) {
      s.out_step = items[1].out - items[0].out;
      s.step = first(items[1]) - s.first;
    }
    s.weight = sample(s.out).weight;
    bool even = true;
    for (const Item& item : items) {
      for (int64_t j = 0; j < item.repeat; ++j) even = even && sample(item.out + j).weight == s.weight;
    }
    s.kind = !even           ? ResizeSegment::Kind::kUneven
             : s.weight == 0 ? ResizeSegment::Kind::kCopy
                             : ResizeSegment::Kind::kEven;
    return s;
  }

  const ResizeAxis& axis_;
  Segments segments_;
};

Segments by_weight(const ResizeAxis& axis) {
  std::map<int64_t, std::vector<Item>> items;
  for (int64_t o = 0; o < std::ssize(axis.samples); ++o) {
    items[axis.samples[static_cast<size_t>(o)].weight].push_back({o, 1});
  }
  SegmentFinder finder(axis);
  for (const auto& [weight, list] : items) finder.add(list);
  return finder.take();
}

Segments by_stride(const ResizeAxis& axis, int64_t stride) {
  SegmentFinder finder(axis);
  std::vector<Item> items;
  for (int64_t phase = 0; phase < stride; ++phase) {
    items.clear();
    for (int64_t o = phase; o < std::ssize(axis.samples); o += stride) items.push_back({o, 1});
    finder.add(items);
  }
  return finder.take();
}

Segments by_runs(const ResizeAxis& axis) {
  std::vector<Item> items;
  for (int64_t o = 0; o < std::ssize(axis.samples); ++o) {
    const auto at = static_cast<size_t>(o);
    if (o > 0 && axis.samples[at].first == axis.samples[at - 1].first) {
      ++items.back().repeat;
    } else {
      items.push_back({o, 1});
    }
  }
  SegmentFinder finder(axis);
  finder.add(items);
  return finder.take();
}

}  // namespace

ResizeAxis::Part ResizeAxis::part(int64_t begin, int64_t count) const {
  NPU_CHECK(begin >= 0 && count > 0 && begin + count <= std::ssize(samples));
  Part result;
  result.axis.unit = unit;
  result.axis.samples.assign(samples.begin() + begin, samples.begin() + begin + count);
  std::vector<ResizeSample>& own = result.axis.samples;
  result.low = own.front().first;  // samples go forward
  result.axis.in = own.back().first + (own.back().weight != 0 ? 2 : 1) - result.low;
  for (ResizeSample& sample : own) sample.first -= result.low;
  return result;
}

ResizeAxis resize_axis(int64_t in, int64_t out, int64_t scale_n, int64_t scale_d, int64_t offset, bool nearest) {
  ResizeAxis axis{in, nearest ? 1 : scale_n, {}};
  for (int64_t o = 0; o < out; ++o) {
    const int64_t position = o * scale_d + offset;
    const int64_t whole = floor_quotient(position, scale_n), part = position - whole * scale_n;
    const int64_t first = std::clamp<int64_t>(nearest && 2 * part >= scale_n ? whole + 1 : whole, 0, in - 1);
    const bool blends = !nearest && whole >= 0 && whole + 1 < in;
    axis.samples.push_back({first, blends ? part : 0});
  }
  return axis;
}

ResizeAxis unchanged_axis(int64_t size) { return resize_axis(size, size, 1, 1, 0, true); }

ResizeCovers resize_covers(const ResizeAxis& axis) {
  ResizeCovers covers = {by_weight(axis), by_runs(axis)};
  const int64_t most = std::min(std::ssize(axis.samples), kMostPhases);
  for (int64_t stride = 1; stride <= most; ++stride) covers.push_back(by_stride(axis, stride));
  return covers;
}

}  // namespace npu::compiler
