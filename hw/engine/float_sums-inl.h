// SPDX-License-Identifier: Apache-2.0
// Sums of floating-point products in the order of the array, and how values join. Included by one kernels_*.cpp.

namespace npu::engine::NPU_SIMD {
namespace {

// A channel a lane.
typedef float FloatVector __attribute__((vector_size(kFloatLanes * sizeof(float))));

inline FloatVector load_vector(const float* from) {
  FloatVector value;
  __builtin_memcpy(&value, from, sizeof(value));
  return value;
}
inline void store_vector(float* to, FloatVector value) { __builtin_memcpy(to, &value, sizeof(value)); }

// Sums of a cycle for kRows rows.
template <int kRows>
struct FloatSums {
  FloatVector row[kRows];
};

template <int kRows>
inline void add_sums(FloatSums<kRows>& to, const FloatSums<kRows>& with) {
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) to.row[r] = to.row[r] + with.row[r];
}

// The products of kCount neighbours, in pairs. `product(k)` are those of element k.
template <int kCount, int kRows, class Product>
inline FloatSums<kRows> pair_sums(size_t k, const Product& product) {
  if constexpr (kCount == 1) {
    return product(k);
  } else {
    FloatSums<kRows> sums = pair_sums<kCount / 2, kRows>(k, product);
    add_sums(sums, pair_sums<kCount / 2, kRows>(k + kCount / 2, product));
    return sums;
  }
}

// The same of any number. Sums of 1, 2, 4, ... neighbours wait for their like; what is missing at the end is +0, which
// changes no sum that goes into an accumulator.
template <int kRows, class Product>
inline FloatSums<kRows> cycle_sums(size_t k, size_t count, const Product& product) {
  constexpr size_t kAtOnce = 8;
  constexpr size_t kLevels = 32;
  FloatSums<kRows> waiting[kLevels];
  size_t level = 0;
  size_t done = 0;
  for (; done + kAtOnce <= count; done += kAtOnce) {
    FloatSums<kRows> sums = pair_sums<kAtOnce, kRows>(k + done, product);
    for (size_t blocks = done / kAtOnce; blocks % 2 == 1; blocks /= 2) {
      FloatSums<kRows> before = waiting[--level];
      add_sums(before, sums);
      sums = before;
    }
    waiting[level++] = sums;
  }
  if (count & 4) waiting[level++] = pair_sums<4, kRows>(k + done, product), done += 4;
  if (count & 2) waiting[level++] = pair_sums<2, kRows>(k + done, product), done += 2;
  if (count & 1) waiting[level++] = pair_sums<1, kRows>(k + done, product);
  for (; level > 1; --level) add_sums(waiting[level - 2], waiting[level - 1]);
  return waiting[0];
}

template <int kRows>
inline void gemm_float_rows(const float* a, size_t a_stride, const float* panel, std::span<const uint32_t> cycles,
                            float* acc) {
  const auto product = [=](size_t k) __attribute__((always_inline)) {
    const FloatVector weights = load_vector(panel + k * kPanel);
    FloatSums<kRows> products;
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) products.row[r] = a[static_cast<size_t>(r) * a_stride + k] * weights;
    return products;
  };
  FloatSums<kRows> sums;
  for (int r = 0; r < kRows; ++r) sums.row[r] = load_vector(acc + static_cast<size_t>(r) * kPanel);
  size_t k = 0;
  for (const uint32_t count : cycles) {
    add_sums(sums, cycle_sums<kRows>(k, count, product));
    k += count;
  }
  for (int r = 0; r < kRows; ++r) store_vector(acc + static_cast<size_t>(r) * kPanel, sums.row[r]);
}

// Four floats each of four rows, transposed.
inline void transpose4(const float* from, size_t from_stride, float* to, size_t to_stride) {
  typedef float Four __attribute__((vector_size(4 * sizeof(float))));
  Four row[4];
  for (size_t i = 0; i < 4; ++i) __builtin_memcpy(&row[i], from + i * from_stride, sizeof(Four));
  const Four low01 = __builtin_shufflevector(row[0], row[1], 0, 4, 1, 5);
  const Four high01 = __builtin_shufflevector(row[0], row[1], 2, 6, 3, 7);
  const Four low23 = __builtin_shufflevector(row[2], row[3], 0, 4, 1, 5);
  const Four high23 = __builtin_shufflevector(row[2], row[3], 2, 6, 3, 7);
  row[0] = __builtin_shufflevector(low01, low23, 0, 1, 4, 5);
  row[1] = __builtin_shufflevector(low01, low23, 2, 3, 6, 7);
  row[2] = __builtin_shufflevector(high01, high23, 0, 1, 4, 5);
  row[3] = __builtin_shufflevector(high01, high23, 2, 3, 6, 7);
  for (size_t i = 0; i < 4; ++i) __builtin_memcpy(to + i * to_stride, &row[i], sizeof(Four));
}

// Elements of the reduction of all channels of a panel.
struct PanelBlock {
  float of[kPanel][kPanel] = {};  // [channel][element]
  uint32_t largest = 0;           // magnitude so far

  template <class Format>
  void read(const uint8_t* row, size_t channel, size_t count) {
    uint32_t most = largest;
    for (size_t i = 0; i < count; ++i) {
      const uint32_t bits = Format::widen(load_at<typename Format::Bits>(row, i));
      const uint32_t magnitude = bits & ~kFloatSign;
      of[channel][i] = as_float(bits);
      most = magnitude > most ? magnitude : most;
    }
    largest = most;
  }

  void write(float* panel) const {
    for (size_t k = 0; k < kPanel; k += 4) {
      for (size_t c = 0; c < kPanel; c += 4) transpose4(&of[c][k], kPanel, panel + k * kPanel + c, kPanel);
    }
  }
};

// The channels' elements are made in blocks of kPanel of each, so that what is read and what is written stays near.
template <class Format>
bool pack_format(const uint8_t* w, ptrdiff_t stride, size_t channels, size_t k, float* panel) {
  PanelBlock block;
  const size_t whole = k / kPanel * kPanel;
  for (size_t from = 0; from < whole; from += kPanel) {
    const uint8_t* at = w + from * sizeof(typename Format::Bits);
    for (size_t c = 0; c < channels; ++c) block.read<Format>(at + static_cast<ptrdiff_t>(c) * stride, c, kPanel);
    block.write(panel + from * kPanel);
  }
  if (whole < k) {
    const uint8_t* at = w + whole * sizeof(typename Format::Bits);
    for (size_t c = 0; c < channels; ++c) block.read<Format>(at + static_cast<ptrdiff_t>(c) * stride, c, k - whole);
    float last[kPanel * kPanel];
    block.write(last);
    __builtin_memcpy(panel + whole * kPanel, last, (k - whole) * kPanel * sizeof(float));
  }
  return block.largest < kFloatInfinity;
}

bool pack_float(contract::Element type, const uint8_t* w, ptrdiff_t stride, size_t channels, size_t k, float* panel) {
  bool finite = true;
  with_format(type, [&](auto format) { finite = pack_format<decltype(format)>(w, stride, channels, k, panel); });
  return finite;
}

template <class Format>
bool pack_format_rows(const uint8_t* w, ptrdiff_t stride, size_t channels, size_t k, float* panel) {
  uint32_t largest = 0;
  for (size_t i = 0; i < k; ++i, w += stride, panel += kPanel) {
    float row[kPanel] = {};
    for (size_t c = 0; c < channels; ++c) {
      const uint32_t bits = Format::widen(load_at<typename Format::Bits>(w, c)), magnitude = bits & ~kFloatSign;
      row[c] = as_float(bits);
      largest = magnitude > largest ? magnitude : largest;
    }
    __builtin_memcpy(panel, row, sizeof(row));
  }
  return largest < kFloatInfinity;
}

bool pack_float_rows(contract::Element type, const uint8_t* w, ptrdiff_t stride, size_t channels, size_t k,
                     float* panel) {
  bool finite = true;
  with_format(type, [&](auto format) {
    using Format = decltype(format);
    // All channels of most panels: a number that the compiler knows.
    finite = channels == kPanel ? pack_format_rows<Format>(w, stride, kPanel, k, panel)
                                : pack_format_rows<Format>(w, stride, channels, k, panel);
  });
  return finite;
}

void gemm_float(const float* a, size_t a_stride, size_t rows, const float* panel, std::span<const uint32_t> cycles,
                float* acc) {
  size_t r = 0;
  for (size_t lane = 0; lane < kPanel; lane += kFloatLanes) {
    for (r = 0; r + kFloatRows <= rows; r += kFloatRows) {
      gemm_float_rows<kFloatRows>(a + r * a_stride, a_stride, panel + lane, cycles, acc + r * kPanel + lane);
    }
    for (; r < rows; ++r) gemm_float_rows<1>(a + r * a_stride, a_stride, panel + lane, cycles, acc + r * kPanel + lane);
  }
}

// kFloatLanes channels.
inline void depthwise_float_lanes(const float* const* src, const float* const* weights, size_t channel,
                                  std::span<const uint32_t> cycles, float* acc) {
  const auto product = [=](size_t tap) {
    FloatSums<1> products = {};
    if (src[tap] != nullptr) products.row[0] = load_vector(src[tap] + channel) * load_vector(weights[tap] + channel);
    return products;
  };
  FloatSums<1> sums = {load_vector(acc)};
  size_t tap = 0;
  for (const uint32_t taps : cycles) {
    add_sums(sums, cycle_sums<1>(tap, taps, product));
    tap += taps;
  }
  store_vector(acc, sums.row[0]);
}

void depthwise_float(const float* const* src, const float* const* weights, std::span<const uint32_t> cycles,
                     size_t channels, float* acc) {
  for (size_t c = 0; c < channels; c += kFloatLanes) depthwise_float_lanes(src, weights, c, cycles, acc + c);
}

template <bool kAdds>
inline void output_floats(const FloatOutput& stage, const float* acc, const uint8_t* residual, size_t first,
                          size_t count, uint8_t* dst) {
  const uint32_t low = as_bits(stage.clamp_min), high = as_bits(stage.clamp_max);
  const float* bias = stage.bias + first;
  with_format(stage.type, [=](auto format) {
    using Format = decltype(format);
    using Bits = typename Format::Bits;
    NPU_INDEPENDENT
    for (size_t c = 0; c < count; ++c) {
      uint32_t sum = as_bits(acc[c] + bias[c]);
      if constexpr (kAdds) {
        const float value = as_float(Format::widen(Format::narrow(sum)));
        sum = as_bits(value + as_float(Format::widen(load_at<Bits>(residual, c))));
      }
      store_at<Bits>(dst, c, static_cast<Bits>(Format::narrow(clamp_float(sum, low, high, false))));
    }
  });
}

void output_float(const FloatOutput& stage, const float* acc, const uint8_t* residual, size_t first, size_t count,
                  uint8_t* dst) {
  if (residual != nullptr) return output_floats<true>(stage, acc, residual, first, count, dst);
  output_floats<false>(stage, acc, residual, first, count, dst);
}

// Calls f with a function that joins two patterns.
template <class F>
inline void with_join(const FloatJoin& how, F f) {
  const bool ignore = how.ignore_nan;
  switch (how.op) {
    case FloatJoin::Op::kSum:
      return f([](uint32_t a, uint32_t b) { return as_bits(as_float(a) + as_float(b)); });
    case FloatJoin::Op::kProduct:
      return f([](uint32_t a, uint32_t b) { return as_bits(as_float(a) * as_float(b)); });
    case FloatJoin::Op::kMax:
      return f([=](uint32_t a, uint32_t b) { return better_float<true>(a, b, ignore); });
    case FloatJoin::Op::kMin:
      return f([=](uint32_t a, uint32_t b) { return better_float<false>(a, b, ignore); });
  }
}

void join_floats(const FloatJoin& how, float* acc, const float* values, size_t count) {
  with_join(how, [=](auto join) {
    for (size_t i = 0; i < count; ++i) acc[i] = as_float(one_nan(join(as_bits(acc[i]), as_bits(values[i]))));
  });
}

void join_rows(const FloatJoin& how, contract::Element type, const uint8_t* const* rows, size_t row_count, size_t count,
               float* acc) {
  with_format(type, [&](auto format) {
    using Bits = typename decltype(format)::Bits;
    with_join(how, [&](auto join) {
      for (size_t r = 0; r < row_count; ++r) {
        const uint8_t* row = rows[r];
        for (size_t i = 0; i < count; ++i) {
          const uint32_t value = decltype(format)::widen(load_at<Bits>(row, i));
          acc[i] = as_float(one_nan(join(as_bits(acc[i]), value)));
        }
      }
    });
  });
}

}  // namespace
}  // namespace npu::engine::NPU_SIMD
