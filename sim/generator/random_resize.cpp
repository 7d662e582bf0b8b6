// SPDX-License-Identifier: Apache-2.0
#include "sim/generator/random_resize.h"

#include <algorithm>

namespace npu::generator {
namespace {

// The positions of the result come first, for the border has to lead to the last one.
void add_resize_axis(cosim::Random& random, ResizeScale& r) {
  const int64_t out = random.chance(15) ? 1 : random.between(1, 15);
  int64_t n = random.between(1, 4), d = random.between(1, 4);
  if (random.chance(30)) {
    n = random.between(2, 2048);
    d = random.between(std::max<int64_t>(1, n / 16), 3 * n);
  }
  const int64_t offset = random.chance(50) ? random.between(-n, n) : random.chance(50) ? 0 : random.between(0, 3 * n);
  const int64_t last = (out - 1) * d + offset;
  const int64_t size = std::max<int64_t>(0, last) / n + 1 + (random.chance(30) ? random.between(1, 3) : 0);
  r.size.push_back(size);
  r.scale.insert(r.scale.end(), {n, d});
  r.offset.push_back(offset);
  r.border.push_back(last - (size - 1) * n);
}

}  // namespace

ResizeScale random_resize(cosim::Random& random) {
  ResizeScale result;
  add_resize_axis(random, result);
  add_resize_axis(random, result);
  return result;
}

}  // namespace npu::generator
