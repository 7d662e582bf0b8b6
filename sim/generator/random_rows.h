// SPDX-License-Identifier: Apache-2.0
// Random GATHER and SCATTER, whose indices all choose a row.
#pragma once

#include "sim/generator/random_network.h"

namespace npu::generator {

// Values of this type; indices from an input or a constant, up to more than a command of DMA has room for. The result.
[[nodiscard]] graph::TensorId random_gather(RandomNetwork& net, graph::DType type);
// Indices from a constant, each row at most once.
[[nodiscard]] graph::TensorId random_scatter(RandomNetwork& net, graph::DType type);

}  // namespace npu::generator
