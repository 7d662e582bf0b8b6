// SPDX-License-Identifier: Apache-2.0
// dot8 as loops that the compiler vectorises. Included inside the namespace of a set.

void dot8(const uint8_t* a, size_t a_stride, size_t rows, const uint8_t* w, ptrdiff_t stride, size_t channels, size_t k,
          int32_t* acc, size_t acc_stride, int32_t* sums) {
  for (size_t c = 0; c < channels; ++c) {
    const int8_t* weights = reinterpret_cast<const int8_t*>(w + static_cast<ptrdiff_t>(c) * stride);
    uint32_t sum = 0;
    for (size_t i = 0; i < k; ++i) sum += static_cast<uint32_t>(weights[i]);
    sums[c] = static_cast<int32_t>(sum);
    for (size_t r = 0; r < rows; ++r) {
      const uint8_t* row = a + r * a_stride;
      uint32_t dot = 0;
      for (size_t i = 0; i < k; ++i) dot += static_cast<uint32_t>(row[i] * weights[i]);
      acc[r * acc_stride + c] = static_cast<int32_t>(dot);
    }
  }
}
