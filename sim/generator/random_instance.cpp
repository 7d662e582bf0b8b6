// SPDX-License-Identifier: Apache-2.0
#include "sim/generator/random_instance.h"

namespace npu::generator {

using graph::DType;
using graph::Rescaling;
using graph::RoundingMode;
using graph::Shape;
using graph::TensorId;

int32_t pick(const RandomInstance& i, int64_t low, int64_t high) {
  return static_cast<int32_t>(i.random().between(low, high));
}

double zero_point(const RandomInstance& i, DType type) { return type == DType::kInt8 ? pick(i, -30, 30) : 0; }

Rescaling rescaling(const RandomInstance& i, DType from, int64_t places, int64_t entries) {
  Rescaling how;
  how.scale32 = from != DType::kInt48 && i.random().chance(70);
  const int64_t one = how.scale32 ? 31 : 15;
  how.multiplier = random_numbers(i.random(), entries, int64_t{1} << (one - 1), (int64_t{1} << one) - 1);
  how.shift = random_numbers(i.random(), entries, one + places, one + places + 3);
  how.per_channel = entries > 1;
  how.rounding = how.scale32 && i.random().chance(50) ? RoundingMode::kDoubleRound : RoundingMode::kSingleRound;
  return how;
}

void give_sums(const RandomInstance& i, TensorId sums) {
  if (i.random().chance(30)) return i.give(sums);
  const Shape shape = i.b().tensor(sums).shape;
  const bool narrow = i.b().tensor(sums).type == DType::kInt32;
  const DType to = narrow ? DType::kInt8 : DType::kInt16;
  Rescaling how = rescaling(i, i.b().tensor(sums).type, narrow ? 5 : 8, i.random().chance(60) ? shape.back() : 1);
  how.output_zp = zero_point(i, to);
  const TensorId result = i.b().rescale(sums, to, how);
  i.give(i.random().chance(50) ? i.b().clamp(result, pick(i, -100, 0), pick(i, 1, 100)) : result);
}

}  // namespace npu::generator
