// SPDX-License-Identifier: Apache-2.0
#include "sim/generator/random_windows.h"

namespace npu::generator {
namespace {

struct WindowAxis {
  int32_t kernel = 1, stride = 1, dilation = 1, before = 0, after = 0;
  int64_t size = 1;
};

// Output positions first, for the windows have to fill the padded image; the size may come out as none.
WindowAxis try_window_axis(cosim::Random& random, bool pools, bool tap) {
  const auto pick = [&](int32_t low, int32_t high) { return static_cast<int32_t>(random.between(low, high)); };
  WindowAxis axis;
  axis.kernel = tap || random.chance(20) ? 1 : pick(1, 3);
  axis.stride = pick(1, 3);
  axis.dilation = pools || random.chance(60) ? 1 : pick(2, 3);
  const int32_t most = pools || random.chance(70) ? axis.kernel - 1 : 2;
  const bool full = random.chance(30);
  axis.before = full ? most : pick(0, most);
  axis.after = full ? most : pick(0, most);
  const int32_t positions = random.chance(20) ? 1 : pick(1, 6);
  axis.size = (positions - 1) * axis.stride + (axis.kernel - 1) * axis.dilation + 1 - axis.before - axis.after;
  return axis;
}

}  // namespace

Windows random_windows(cosim::Random& random, bool pools, int axes) {
  const bool tap = random.chance(25), pixel = random.chance(25);
  Windows w;
  for (int i = 0; i < axes; ++i) {
    WindowAxis axis;
    do axis = try_window_axis(random, pools, tap);
    while (pixel ? axis.size != 1 : axis.size < 1);
    w.kernel.push_back(axis.kernel), w.stride.push_back(axis.stride), w.dilation.push_back(axis.dilation);
    w.pad.push_back(axis.before), w.pad.push_back(axis.after), w.size.push_back(axis.size);
  }
  return w;
}

}  // namespace npu::generator
