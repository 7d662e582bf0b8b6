// SPDX-License-Identifier: Apache-2.0
// Random windows over an image: of convolutions and of pooling.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/cosim/random.h"

namespace npu::generator {

// How an image of this size is cut into windows, which fill the padded image: along y, then x; in front of them along
// depth where there is one.
struct Windows {
  std::vector<int32_t> kernel, stride, dilation, pad;  // pad: before and after the image, of each
  std::vector<int64_t> size;                           // of the image
};

// Images of one pixel, kernels of one element and single positions are frequent: a compiler treats them by rules of
// their own. Convolutions are dilated, and pad by more than their kernel now and then; pooling may not.
[[nodiscard]] Windows random_windows(cosim::Random& random, bool pools, int axes = 2);

}  // namespace npu::generator
