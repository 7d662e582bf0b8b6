// SPDX-License-Identifier: Apache-2.0
#include "hw/contract/suggestion.h"

#include <algorithm>
#include <vector>

namespace npu::contract {
namespace {

// Beyond this a word is no slip of the fingers, and comparing it would take long.
constexpr size_t kLongestWord = 64;

// How many letters change, are left out or put in, or change places with their neighbours (optimal string alignment).
size_t distance(std::string_view a, std::string_view b) {
  const size_t columns = b.size() + 1;
  std::vector<size_t> cost((a.size() + 1) * columns);
  const auto at = [&](size_t i, size_t k) -> size_t& { return cost[i * columns + k]; };
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t k = 0; k <= b.size(); ++k) {
      if (i == 0 || k == 0) {
        at(i, k) = i + k;
        continue;
      }
      const size_t same = a[i - 1] == b[k - 1] ? 0 : 1;
      at(i, k) = std::min({at(i - 1, k) + 1, at(i, k - 1) + 1, at(i - 1, k - 1) + same});
      if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1]) {
        at(i, k) = std::min(at(i, k), at(i - 2, k - 2) + 1);
      }
    }
  }
  return at(a.size(), b.size());
}

}  // namespace

std::string did_you_mean(std::string_view word, std::span<const std::string> known) {
  if (word.empty() || word.size() > kLongestWord) return "";
  const std::string* nearest = nullptr;
  size_t least = 0;
  for (const std::string& name : known) {
    if (name.empty() || name.size() > kLongestWord) continue;
    const size_t changes = distance(word, name);
    const bool near = changes <= std::max<size_t>(1, std::min(word.size(), name.size()) / 3);
    if (!near || (nearest != nullptr && changes >= least)) continue;
    nearest = &name;
    least = changes;
  }
  return nearest == nullptr ? "" : "; did you mean '" + *nearest + "'?";
}

}  // namespace npu::contract
