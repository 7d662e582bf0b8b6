// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "driver/graph/float_format.h"
#include "driver/graph/text.h"
#include "driver/runtime/snapshot.h"

namespace npu::runtime {
namespace {

// Element `index` as a number. (INT48 and SHAPE beyond 2^53 lose their last digits, here only.)
double number_at(const SnapshotVariable& variable, int64_t index) {
  const int64_t width = graph::machine_width(variable.type);
  uint64_t bits = 0;
  std::memcpy(&bits, variable.bytes.data() + index * width, static_cast<size_t>(width));
  if (const std::optional<graph::FloatFormat> format = graph::float_format(variable.type)) {
    return graph::decode(*format, static_cast<uint32_t>(bits));
  }
  const auto unused = static_cast<unsigned>(64 - 8 * width);
  return static_cast<double>(static_cast<int64_t>(bits << unused) >> unused);
}

double distance(double a, double b) {
  if (std::isfinite(a) && std::isfinite(b)) return std::abs(a - b);
  const bool same = a == b || (std::isnan(a) && std::isnan(b));
  return same ? 0 : std::numeric_limits<double>::infinity();
}

// Where an element stands: 5 in [2, 3] is [1, 2].
graph::Shape position(const graph::Shape& shape, int64_t index) {
  graph::Shape at(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    at[i] = index % shape[i];
    index /= shape[i];
  }
  return at;
}

std::optional<SnapshotDifference> compare_contents(const SnapshotVariable& a, const SnapshotVariable& b) {
  const graph::Difference found = graph::compare({a.type, a.shape, a.bytes}, {b.type, b.shape, b.bytes});
  if (found.differing == 0) return std::nullopt;
  SnapshotDifference difference{a.identity, "", found.compared, found.differing, found.first, 0};
  const int64_t width = graph::machine_width(a.type);
  for (int64_t i = found.first; i < found.compared; ++i) {
    if (std::memcmp(a.bytes.data() + i * width, b.bytes.data() + i * width, static_cast<size_t>(width)) == 0) continue;
    difference.max_abs = std::max(difference.max_abs, distance(number_at(a, i), number_at(b, i)));
  }
  difference.what =
      fmt::format("{} of {} elements differ, by up to {}; the first is {}: {} against {}", found.differing,
                  found.compared, difference.max_abs, graph::to_string(position(a.shape, found.first)),
                  number_at(a, found.first), number_at(b, found.first));
  return difference;
}

std::optional<SnapshotDifference> compare(const SnapshotVariable* a, const SnapshotVariable* b) {
  const auto differs = [&](std::string what) {
    return SnapshotDifference{(a != nullptr ? a : b)->identity, std::move(what), 0, 0, -1, 0};
  };
  if (a == nullptr) return differs("only in the second snapshot");
  if (b == nullptr) return differs("only in the first snapshot");
  if (a->type != b->type || a->shape != b->shape) {
    return differs(fmt::format("{} in the first snapshot, {} in the second", graph::describe_type(a->type, a->shape),
                               graph::describe_type(b->type, b->shape)));
  }
  if (a->is_written != b->is_written) {
    return differs(fmt::format("written in the {} snapshot only", a->is_written ? "first" : "second"));
  }
  return compare_contents(*a, *b);
}

}  // namespace

std::vector<SnapshotDifference> diff(const Snapshot& a, const Snapshot& b) {
  std::map<std::string_view, std::pair<const SnapshotVariable*, const SnapshotVariable*>> pairs;
  for (const SnapshotVariable& variable : a.variables) pairs[variable.identity].first = &variable;
  for (const SnapshotVariable& variable : b.variables) pairs[variable.identity].second = &variable;
  std::vector<SnapshotDifference> differences;
  for (const auto& [identity, pair] : pairs) {
    if (auto difference = compare(pair.first, pair.second)) differences.push_back(*std::move(difference));
  }
  return differences;
}

}  // namespace npu::runtime
