// SPDX-License-Identifier: Apache-2.0
#include "sim/reference/fast.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "sim/reference/arithmetic.h"
#include "sim/reference/geometry.h"

namespace npu::reference::fast {
namespace {

// Elements without their zero point: 9 bits from INT8, 16 from INT16, so that 16 bits hold them.
struct Wide {
  std::vector<int16_t> values;
  int64_t largest = 0;  // magnitude
};

template <typename T>
Wide widen(std::span<const T> in, int64_t zero) {
  Wide wide;
  wide.values.resize(in.size());
  int low = 0;
  int high = 0;
  for (size_t i = 0; i < in.size(); ++i) {
    const int value = in[i] - static_cast<int>(zero);
    wide.values[i] = static_cast<int16_t>(value);
    low = std::min(low, value);
    high = std::max(high, value);
  }
  wide.largest = std::max(-int64_t{low}, int64_t{high});
  return wide;
}

// Whether a sum of `count` products of elements of these magnitudes stays inside the accumulator, in any order.
template <typename Out>
bool fits(int64_t count, const Wide& a, const Wide& b) {
  return a.largest * b.largest <= Out::kMax / std::max<int64_t>(count, 1);
}

// How many products of these magnitudes 32 bits can sum.
int64_t products_in_32_bits(const Wide& a, const Wide& b) {
  return std::numeric_limits<int32_t>::max() / std::max<int64_t>(a.largest * b.largest, 1);
}

constexpr int64_t kRows = 4;  // weight rows multiplied at once: as many sums as the registers hold

// sums[r] += x . row r, over `length` elements; rows are `stride` apart. The compiler makes vector code of it for
// integers. For floating point, where it keeps the order of additions, four sums at once hide how long each takes.
template <typename Sum, typename T, typename Total>
void dot(const T* x, const T* rows, int64_t stride, int64_t length, Total* sums) {
  const T* row0 = rows;
  const T* row1 = row0 + stride;
  const T* row2 = row1 + stride;
  const T* row3 = row2 + stride;
  Sum s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  for (int64_t k = 0; k < length; ++k) {
    s0 += x[k] * row0[k];
    s1 += x[k] * row1[k];
    s2 += x[k] * row2[k];
    s3 += x[k] * row3[k];
  }
  sums[0] += s0;
  sums[1] += s1;
  sums[2] += s2;
  sums[3] += s3;
}

// The rows of a matrix, each `length` long, filled up with rows of zeros to a multiple of kRows.
template <typename T, typename Total>
class Rows {
 public:
  Rows(std::vector<T> values, int64_t length) : values_(std::move(values)), length_(length) {
    const int64_t count = static_cast<int64_t>(values_.size()) / length;
    padded_ = (count + kRows - 1) / kRows * kRows;
    values_.resize(static_cast<size_t>(padded_ * length));
    sums_.resize(static_cast<size_t>(padded_));
  }

  // x . row for every row; a Sum holds at least `longest` products.
  template <typename Sum>
  std::span<const Total> multiply(const T* x, int64_t longest) {
    std::fill(sums_.begin(), sums_.end(), Total{0});
    for (int64_t row = 0; row < padded_; row += kRows) {
      const T* rows = values_.data() + row * length_;
      for (int64_t k = 0; k < length_; k += longest) {
        dot<Sum>(x + k, rows + k, length_, std::min(longest, length_ - k), &sums_[static_cast<size_t>(row)]);
      }
    }
    return sums_;
  }

 private:
  std::vector<T> values_;
  int64_t length_;
  int64_t padded_ = 0;
  std::vector<Total> sums_;
};
using IntegerRows = Rows<int16_t, int64_t>;
using FloatRows = Rows<double, double>;

// Sums `limit` products at a time in 32 bits, which is faster where these are many.
std::span<const int64_t> multiply(IntegerRows& rows, const int16_t* x, int64_t length, int64_t limit) {
  constexpr int64_t kWorthwhile = 64;
  return limit < kWorthwhile ? rows.multiply<int64_t>(x, length) : rows.multiply<int32_t>(x, limit);
}

bool inside(int64_t value, int64_t size) { return 0 <= value && value < size; }

// The operand's elements under the kernel at one place, in the order of a weight row; padding is 0.
template <typename T>
void gather_patch(const Convolution& g, const std::vector<T>& in, int64_t n, const std::array<int64_t, 3>& corner,
                  std::vector<T>& patch) {
  T* to = patch.data();
  const auto bytes = static_cast<size_t>(g.ic) * sizeof(T);
  for (int64_t kd = 0; kd < g.kernel[0]; ++kd) {
    for (int64_t ky = 0; ky < g.kernel[1]; ++ky) {
      for (int64_t kx = 0; kx < g.kernel[2]; ++kx, to += g.ic) {
        const int64_t d = corner[0] + kd * g.dilation[0];
        const int64_t y = corner[1] + ky * g.dilation[1];
        const int64_t x = corner[2] + kx * g.dilation[2];
        if (inside(d, g.in[0]) && inside(y, g.in[1]) && inside(x, g.in[2])) {
          std::memcpy(to, in.data() + (((n * g.in[0] + d) * g.in[1] + y) * g.in[2] + x) * g.ic, bytes);
        } else {
          std::memset(to, 0, bytes);
        }
      }
    }
  }
}

// Calls body(patch) for every place of the result, in C order.
template <typename T, typename Body>
void for_each_patch(const Convolution& g, const std::vector<T>& in, Body&& body) {
  std::vector<T> patch(static_cast<size_t>(g.taps()));
  for (int64_t n = 0; n < g.n; ++n) {
    for (int64_t od = 0; od < g.out[0]; ++od) {
      for (int64_t oy = 0; oy < g.out[1]; ++oy) {
        for (int64_t ox = 0; ox < g.out[2]; ++ox) {
          gather_patch(g, in, n,
                       {od * g.stride[0] - g.pad[0], oy * g.stride[1] - g.pad[1], ox * g.stride[2] - g.pad[2]}, patch);
          body(patch.data());
        }
      }
    }
  }
}

template <typename In, typename Weight, typename Out>
bool integer_convolution(const Call& call) {
  const Convolution g = convolution_of(call);
  const ZeroPoints zero = zero_points_of(call, In::kType, Weight::kType, 3);
  const Wide in = widen(elements<typename In::T>(call.input(0)), zero.a);
  Wide weight = widen(elements<typename Weight::T>(call.input(1)), zero.b);
  if (!fits<Out>(g.taps(), in, weight)) {
    return false;
  }
  const int64_t limit = products_in_32_bits(in, weight);
  IntegerRows rows(std::move(weight.values), g.taps());
  const auto bias = elements<typename Out::T>(call.input(2));
  const int64_t step = bias_step(call, g.oc);
  typename Out::T* out = elements<typename Out::T>(call.output()).data();
  for_each_patch(g, in.values, [&](const int16_t* patch) {
    const auto sums = multiply(rows, patch, g.taps(), limit);
    for (int64_t oc = 0; oc < g.oc; ++oc) {
      *out++ = static_cast<typename Out::T>(add<Out>(call, sums[oc], bias[oc * step]));
    }
  });
  return true;
}

// Each sum is formed in the order of the plain version. That one leaves padding out and here it is multiplied, which
// makes no difference as long as no weight is an infinity or a NaN.
template <typename In, typename Out>
bool float_convolution(const Call& call) {
  const Convolution g = convolution_of(call);
  (void)zero_points_of(call, In::kType, In::kType, 3);  // checks that there are none
  std::vector<double> weight = wide_elements<In>(call.input(1));
  if (!std::ranges::all_of(weight, [](double value) { return std::isfinite(value); })) {
    return false;
  }
  FloatRows rows(std::move(weight), g.taps());
  const auto bias = elements<typename Out::T>(call.input(2));
  const int64_t step = bias_step(call, g.oc);
  typename Out::T* out = elements<typename Out::T>(call.output()).data();
  for_each_patch(g, wide_elements<In>(call.input(0)), [&](const double* patch) {
    const auto sums = rows.multiply<double>(patch, g.taps());
    for (int64_t oc = 0; oc < g.oc; ++oc) {
      *out++ = Out::store(add<Out>(call, sums[oc], Out::load(bias[oc * step])));
    }
  });
  return true;
}

template <typename T, typename Sum>
void depthwise_sums(const Depthwise& g, const std::vector<T>& in, const std::vector<T>& weight, int64_t n, int64_t iy,
                    int64_t ix, std::vector<Sum>& sums) {
  std::fill(sums.begin(), sums.end(), Sum{0});
  for (int64_t ky = 0; ky < g.kh; ++ky) {
    for (int64_t kx = 0; kx < g.kw; ++kx) {
      const int64_t y = iy + ky * g.dilation_y;
      const int64_t x = ix + kx * g.dilation_x;
      if (!inside(y, g.ih) || !inside(x, g.iw)) {
        continue;
      }
      const T* pixel = in.data() + ((n * g.ih + y) * g.iw + x) * g.c;
      const T* tap = weight.data() + (ky * g.kw + kx) * g.c * g.m;
      Sum* sum = sums.data();
      if (g.m == 1) {
        for (int64_t c = 0; c < g.c; ++c) {
          sum[c] += pixel[c] * tap[c];
        }
      } else {
        for (int64_t c = 0; c < g.c; ++c) {
          for (int64_t m = 0; m < g.m; ++m) {
            sum[c * g.m + m] += pixel[c] * tap[c * g.m + m];
          }
        }
      }
    }
  }
}

template <typename Out, typename Sum, typename T>
void depthwise_as(const Call& call, const Depthwise& g, const std::vector<T>& in, const std::vector<T>& weight) {
  const auto bias = elements<typename Out::T>(call.input(2));
  const int64_t step = bias_step(call, g.c * g.m);
  typename Out::T* out = elements<typename Out::T>(call.output()).data();
  std::vector<Sum> sums(static_cast<size_t>(g.c * g.m));
  for (int64_t n = 0; n < g.n; ++n) {
    for (int64_t oy = 0; oy < g.oh; ++oy) {
      for (int64_t ox = 0; ox < g.ow; ++ox) {
        depthwise_sums(g, in, weight, n, oy * g.stride_y - g.pad_top, ox * g.stride_x - g.pad_left, sums);
        for (size_t c = 0; c < sums.size(); ++c) {
          *out++ = Out::store(add<Out>(call, sums[c], Out::load(bias[c * static_cast<size_t>(step)])));
        }
      }
    }
  }
}

}  // namespace

bool convolution(Call& call) {
  bool done = false;
  for_convolution_types(call, [&](auto in_type, auto weight_type, auto out_type) {
    using In = decltype(in_type);
    using Out = decltype(out_type);
    if constexpr (Out::kIsFloat) {
      done = float_convolution<In, Out>(call);
    } else {
      done = integer_convolution<In, decltype(weight_type), Out>(call);
    }
  });
  return done;
}

bool depthwise_conv2d(Call& call) {
  bool done = false;
  for_convolution_types(call, [&](auto in_type, auto weight_type, auto out_type) {
    using In = decltype(in_type);
    using Weight = decltype(weight_type);
    using Out = decltype(out_type);
    const Depthwise g = depthwise_of(call);
    const ZeroPoints zero = zero_points_of(call, In::kType, Weight::kType, 3);
    if constexpr (Out::kIsFloat) {
      depthwise_as<Out, double>(call, g, wide_elements<In>(call.input(0)), wide_elements<Weight>(call.input(1)));
      done = true;
    } else {
      const Wide in = widen(elements<typename In::T>(call.input(0)), zero.a);
      const Wide weight = widen(elements<typename Weight::T>(call.input(1)), zero.b);
      if (!fits<Out>(g.kh * g.kw, in, weight)) {
        return;
      }
      if (g.kh * g.kw <= products_in_32_bits(in, weight)) {
        depthwise_as<Out, int32_t>(call, g, in.values, weight.values);
      } else {
        depthwise_as<Out, int64_t>(call, g, in.values, weight.values);
      }
      done = true;
    }
  });
  return done;
}

bool matmul(Call& call) {
  bool done = false;
  for_integer_matmul(call, [&](auto in_type, auto out_type) {
    using T = typename decltype(in_type)::T;
    using Out = decltype(out_type);
    const MatMul g = matmul_of(call);
    const ZeroPoints zero = zero_points_of(call, decltype(in_type)::kType, decltype(in_type)::kType, 2);
    const Wide a = widen(elements<T>(call.input(0)), zero.a);
    const Wide b = widen(elements<T>(call.input(1)), zero.b);
    if (!fits<Out>(g.c, a, b)) {
      return;
    }
    const int64_t limit = products_in_32_bits(a, b);
    typename Out::T* out = elements<typename Out::T>(call.output()).data();
    for (int64_t n = 0; n < g.n; ++n) {
      std::vector<int16_t> columns(static_cast<size_t>(g.c * g.w));
      for (int64_t c = 0; c < g.c; ++c) {
        for (int64_t w = 0; w < g.w; ++w) {
          columns[static_cast<size_t>(w * g.c + c)] = b.values[static_cast<size_t>((n * g.c + c) * g.w + w)];
        }
      }
      IntegerRows rows(std::move(columns), g.c);
      for (int64_t h = 0; h < g.h; ++h) {
        const auto sums = multiply(rows, a.values.data() + (n * g.h + h) * g.c, g.c, limit);
        out = std::transform(sums.begin(), sums.begin() + g.w, out,
                             [](int64_t sum) { return static_cast<typename Out::T>(sum); });
      }
    }
    done = true;
  });
  return done;
}

}  // namespace npu::reference::fast
