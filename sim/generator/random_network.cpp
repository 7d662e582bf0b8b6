// SPDX-License-Identifier: Apache-2.0
#include "sim/generator/random_network.h"

#include <fmt/format.h>

#include <optional>
#include <string>

#include "driver/graph/float_format.h"

namespace npu::generator {

using graph::DType;
using graph::Shape;
using graph::TensorId;

namespace {

int64_t random_number(cosim::Random& random, int64_t low, int64_t high) {
  const bool end = random.chance(5);
  return end ? (random.chance(50) ? low : high) : random.between(low, high);
}

}  // namespace

std::vector<double> random_numbers(cosim::Random& random, int64_t count, int64_t low, int64_t high) {
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(static_cast<double>(random_number(random, low, high)));
  return values;
}

uint64_t stacked_bytes(DType type, const Shape& shape, int64_t frames) {
  uint64_t bytes = static_cast<uint64_t>(graph::machine_width(type)) * static_cast<uint64_t>(frames);
  for (const int64_t dim : shape) {
    if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(dim), &bytes)) return UINT64_MAX;
  }
  return bytes;
}

DataRange usual_range(DType type) {
  switch (type) {
    case DType::kBool:
      return {0, 1};
    case DType::kInt4:
      return {-8, 7};
    case DType::kInt8:
      return {INT8_MIN, INT8_MAX};
    case DType::kInt16:
      return {INT16_MIN, INT16_MAX};
    case DType::kInt48:
      return {-(int64_t{1} << 40), int64_t{1} << 40};
    default:
      return {-(int64_t{1} << 28), int64_t{1} << 28};
  }
}

namespace {

// A number from -1 to 1, in steps of FP32's.
uint32_t random_pattern(const graph::FloatFormat& format, cosim::Random& random) {
  constexpr int64_t kOne = int64_t{1} << 23;
  return encode(format, static_cast<double>(random_number(random, -kOne, kOne)) / static_cast<double>(kOne));
}

}  // namespace

graph::Value random_value(DType type, const Shape& shape, int64_t frames, DataRange range, cosim::Random& random) {
  const std::optional<graph::FloatFormat> format = graph::float_format(type);
  graph::Value value{type, shape, {}};
  value.shape.insert(value.shape.begin(), frames);
  const auto width = static_cast<size_t>(graph::machine_width(type));
  value.bytes.reserve(stacked_bytes(type, shape, frames));
  for (int64_t left = elements_of(value.shape); left > 0; --left) {
    const auto bits =
        format ? random_pattern(*format, random) : static_cast<uint64_t>(random_number(random, range.low, range.high));
    for (size_t byte = 0; byte < width; ++byte) value.bytes.push_back(static_cast<uint8_t>(bits >> 8 * byte));
  }
  return value;
}

TensorId RandomNetwork::input(DType type, const Shape& shape, DataRange range) {
  const std::string name = fmt::format("x{}", ranges_.size());
  ranges_.push_back(range);
  return builder.input(name, type, shape);
}

TensorId RandomNetwork::constant(DType type, const Shape& shape, DataRange range) {
  return builder.constant(type, shape, random_numbers(random, elements_of(shape), range.low, range.high));
}

int64_t RandomNetwork::size(int64_t most) { return random.chance(10) ? 1 : random.between(1, most); }

// Mostly a few elements, now and then a single one; or one dimension is larger than the lanes of a machine.
Shape RandomNetwork::shape(int64_t least_rank) {
  Shape shape;
  const bool one = random.chance(8);
  for (int64_t rank = random.between(least_rank, 4); rank > 0; --rank) shape.push_back(one ? 1 : size(6));
  if (!one && !shape.empty() && random.chance(40)) shape[static_cast<size_t>(axis(shape))] = random.between(7, 50);
  return shape;
}

Shape RandomNetwork::narrower(Shape shape) {
  for (int64_t& dim : shape) {
    if (random.chance(20)) dim = 1;
  }
  return shape;
}

int64_t elements_of(const Shape& shape) {
  int64_t count = 1;
  for (const int64_t dim : shape) count *= dim;
  return count;
}

}  // namespace npu::generator
