// SPDX-License-Identifier: Apache-2.0
// TRANSPOSE_CONV2D without its inserted zeros: results that are a stride apart use the same taps, and are a dense
// convolution of their own.
#pragma once

#include <cstdint>
#include <vector>

namespace npu::compiler {

// One dimension of a TRANSPOSE_CONV2D. pad: out_pad in front of it, negative where results are left out.
struct TransposedAxis {
  int64_t kernel = 1, stride = 1, pad = 0, results = 1;
};

// Results `first` + j + i * stride, for i < count and the neighbours j < width, of which each uses the taps
// `first_tap` + j + t * stride, for t < taps, of the kernel: result i reads the inputs from i - padding on, the last
// tap first.
struct Phase {
  int64_t first = 0, width = 1, count = 1;
  int64_t first_tap = 0, taps = 0;
  int64_t padding = 0;
  bool operator==(const Phase&) const = default;
};

// All results, each once. Neighbours that read the same inputs become one phase where `wide` says so; those without any
// tap always do. Where the dimension begins or ends within neighbours, those that are there follow as a phase of their
// own.
[[nodiscard]] std::vector<Phase> phases_of(const TransposedAxis& axis, bool wide);

}  // namespace npu::compiler
