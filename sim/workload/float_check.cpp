// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/float_check.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "driver/graph/float_format.h"
#include "hw/contract/error.h"

namespace npu::workload {
namespace {

uint32_t pattern_of(const graph::Value& value, int64_t element) {
  const auto width = static_cast<size_t>(graph::machine_width(value.type));
  uint32_t pattern = 0;
  std::memcpy(&pattern, value.bytes.data() + static_cast<size_t>(element) * width, width);
  return pattern;
}

}  // namespace

double most_units(graph::DType type) {
  switch (type) {
    case graph::DType::kFp32:
      return 64;
    case graph::DType::kFp16:
      return 8;
    case graph::DType::kBf16:
      return 4;
    default:
      return 1;
  }
}

FloatDifference compare_floats(const graph::Value& got, const graph::Value& want) {
  const std::optional<graph::FloatFormat> format = graph::float_format(want.type);
  NPU_CHECK(format && got.type == want.type && got.shape == want.shape && got.bytes.size() == want.bytes.size());
  FloatDifference result;
  result.compared = static_cast<int64_t>(want.bytes.size()) / graph::machine_width(want.type);
  double largest = 0;
  for (int64_t i = 0; i < result.compared; ++i) {
    const double value = std::abs(decode(*format, pattern_of(want, i)));
    if (std::isfinite(value)) largest = std::max(largest, value);
  }
  const int exponent = largest > 0 ? std::max(std::ilogb(largest), format->min_exponent()) : format->min_exponent();
  const double unit = std::ldexp(1.0, exponent - format->mantissa_bits);
  for (int64_t i = 0; i < result.compared; ++i) {
    const uint32_t a = pattern_of(got, i), b = pattern_of(want, i);
    const double x = decode(*format, a), y = decode(*format, b);
    if (std::isnan(x) && std::isnan(y)) {
      ++result.nans;
      continue;
    }
    if (a == b) continue;
    bool near = false;
    if (std::isfinite(x) && std::isfinite(y)) {
      const double units = std::abs(x - y) / unit;
      result.worst = std::max(result.worst, units);
      near = units <= most_units(want.type);
    }
    ++(near ? result.rounded : result.differing);
    if (!near && result.first < 0) result.first = i;
  }
  return result;
}

}  // namespace npu::workload
