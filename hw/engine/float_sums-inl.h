// SPDX-License-Identifier: Apache-2.0
// Sums of floating-point products in the order of the array, and how values join. Included by one kernels_*.cpp.

namespace npu::engine::NPU_SIMD {
namespace {

// A channel a lane: rows of the array's columns at once.
constexpr size_t kFloatLanes = kPanel;
typedef float FloatVector __attribute__((vector_size(kFloatLanes * sizeof(float)), aligned(sizeof(float))));

// Sums of a cycle for kRows rows.
template <int kRows>
struct FloatSums {
  FloatVector row[kRows];
};

template <int kRows>
inline void add_sums(FloatSums<kRows>& to, const FloatSums<kRows>& with) {
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
    waiting[level++] = pair_sums<kAtOnce, kRows>(k + done, product);
    for (size_t blocks = done / kAtOnce + 1; blocks % 2 == 0; blocks /= 2, --level) {
      add_sums(waiting[level - 2], waiting[level - 1]);
    }
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
  FloatSums<kRows> sums;
  __builtin_memcpy(&sums, acc, sizeof(sums));
  const auto product = [=](size_t k) {
    const FloatVector weights = *reinterpret_cast<const FloatVector*>(panel + k * kFloatLanes);
    FloatSums<kRows> products;
    for (int r = 0; r < kRows; ++r) products.row[r] = a[static_cast<size_t>(r) * a_stride + k] * weights;
    return products;
  };
  size_t k = 0;
  for (const uint32_t count : cycles) {
    add_sums(sums, cycle_sums<kRows>(k, count, product));
    k += count;
  }
  __builtin_memcpy(acc, &sums, sizeof(sums));
}

void gemm_float(const float* a, size_t a_stride, size_t rows, const float* panel, std::span<const uint32_t> cycles,
                float* acc) {
  constexpr int kRows = 4;
  size_t r = 0;
  for (; r + kRows <= rows; r += kRows) {
    gemm_float_rows<kRows>(a + r * a_stride, a_stride, panel, cycles, acc + r * kPanel);
  }
  for (; r < rows; ++r) gemm_float_rows<1>(a + r * a_stride, a_stride, panel, cycles, acc + r * kPanel);
}

void depthwise_float(const float* const* src, const float* const* weights, std::span<const uint32_t> cycles,
                     size_t channels, float* acc) {
  for (size_t from = 0; from < channels; from += kFloatLanes) {
    const size_t count = channels - from < kFloatLanes ? channels - from : kFloatLanes;
    const auto load = [=](const float* at) {
      FloatSums<1> values = {};
      __builtin_memcpy(&values, at + from, count * sizeof(float));
      return values;
    };
    const auto product = [=](size_t tap) {
      FloatSums<1> products = {};
      if (src[tap] != nullptr) products.row[0] = load(src[tap]).row[0] * load(weights[tap]).row[0];
      return products;
    };
    FloatSums<1> sums = load(acc);
    size_t tap = 0;
    for (const uint32_t taps : cycles) {
      add_sums(sums, cycle_sums<1>(tap, taps, product));
      tap += taps;
    }
    __builtin_memcpy(acc + from, &sums, count * sizeof(float));
  }
}

void output_float(const FloatOutput& stage, const float* acc, size_t first, size_t count, uint8_t* dst) {
  const uint32_t low = as_bits(stage.clamp_min), high = as_bits(stage.clamp_max);
  with_format(stage.type, [&](auto format) {
    using Bits = typename decltype(format)::Bits;
    for (size_t c = 0; c < count; ++c) {
      const uint32_t sum = as_bits(acc[c] + stage.bias[first + c]);
      store_at<Bits>(dst, c, static_cast<Bits>(decltype(format)::narrow(clamp_float(sum, low, high, false))));
    }
  });
}

template <class Join>
inline void join_all(float* acc, const float* values, size_t count, Join join) {
  for (size_t i = 0; i < count; ++i) acc[i] = as_float(one_nan(join(as_bits(acc[i]), as_bits(values[i]))));
}

void join_floats(const FloatJoin& how, float* acc, const float* values, size_t count) {
  const bool ignore = how.ignore_nan;
  switch (how.op) {
    case FloatJoin::Op::kSum:
      return join_all(acc, values, count, [](uint32_t a, uint32_t b) { return as_bits(as_float(a) + as_float(b)); });
    case FloatJoin::Op::kProduct:
      return join_all(acc, values, count, [](uint32_t a, uint32_t b) { return as_bits(as_float(a) * as_float(b)); });
    case FloatJoin::Op::kMax:
      return join_all(acc, values, count, [=](uint32_t a, uint32_t b) { return better_float<true>(a, b, ignore); });
    case FloatJoin::Op::kMin:
      return join_all(acc, values, count, [=](uint32_t a, uint32_t b) { return better_float<false>(a, b, ignore); });
  }
}

}  // namespace
}  // namespace npu::engine::NPU_SIMD
