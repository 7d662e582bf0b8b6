// SPDX-License-Identifier: Apache-2.0
// Random convolutions, with a RESCALE and a CLAMP behind them or none.
#pragma once

#include "sim/generator/random_instance.h"
#include "sim/generator/random_windows.h"

namespace npu::generator {

// The image that the windows fill, of any batch and channels.
[[nodiscard]] graph::Shape random_image(const RandomInstance& i, const Windows& w);

void random_conv2d(const RandomInstance& i);
void random_conv3d(const RandomInstance& i);
void random_depthwise_conv2d(const RandomInstance& i);
void random_transpose_conv2d(const RandomInstance& i);

}  // namespace npu::generator
