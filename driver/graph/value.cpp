// SPDX-License-Identifier: Apache-2.0
#include "driver/graph/value.h"

#include <algorithm>
#include <cstring>

#include "hw/contract/error.h"

namespace npu::graph {
namespace {

// A signed little-endian integer of `width` bytes.
int64_t load_signed(const uint8_t* bytes, int64_t width) {
  uint64_t value = 0;
  for (int64_t i = 0; i < width; ++i) {
    value |= uint64_t{bytes[i]} << (8 * i);
  }
  const auto unused = static_cast<unsigned>(64 - 8 * width);
  return static_cast<int64_t>(value << unused) >> unused;
}

bool is_integer(DType type) {
  switch (type) {
    case DType::kBool:
    case DType::kInt4:
    case DType::kInt8:
    case DType::kInt16:
    case DType::kInt32:
    case DType::kInt48:
    case DType::kShape:
      return true;
    default:
      return false;
  }
}

}  // namespace

int64_t machine_width(DType type) {
  switch (type) {
    case DType::kInt16:
    case DType::kFp16:
    case DType::kBf16:
      return 2;
    case DType::kInt32:
    case DType::kFp32:
      return 4;
    case DType::kInt48:
    case DType::kShape:
    case DType::kInt64:
      return 8;
    default:
      return 1;
  }
}

Value value_of_constant(const Tensor& tensor) {
  NPU_CHECK(tensor.has_data);
  const auto elements = element_count(tensor.shape);
  NPU_CHECK(elements.has_value());
  NPU_CHECK(static_cast<int64_t>(tensor.data.size()) == byte_size(tensor.type, *elements));

  Value value{tensor.type, tensor.shape, {}};
  if (tensor.type == DType::kInt48) {
    value.bytes.resize(static_cast<size_t>(*elements) * 8);
    for (int64_t i = 0; i < *elements; ++i) {
      const int64_t wide = load_signed(tensor.data.data() + i * 6, 6);
      std::memcpy(value.bytes.data() + i * 8, &wide, 8);
    }
  } else if (tensor.type == DType::kInt4) {
    // Two elements a byte, the first one in the low half.
    value.bytes.resize(static_cast<size_t>(*elements));
    for (int64_t i = 0; i < *elements; ++i) {
      const uint8_t pair = tensor.data[static_cast<size_t>(i / 2)];
      const auto nibble = static_cast<uint8_t>(i % 2 == 0 ? pair & 0xf : pair >> 4);
      value.bytes[static_cast<size_t>(i)] = static_cast<uint8_t>((nibble ^ 8) - 8);
    }
  } else {
    value.bytes.assign(tensor.data.begin(), tensor.data.end());
  }
  return value;
}

std::optional<OutOfRange> find_out_of_range(DType type, std::span<const uint8_t> bytes) {
  int64_t low = 0, high = 0;
  const char* range = "";
  switch (type) {
    case DType::kBool:
      low = 0, high = 1, range = "0 and 1";
      break;
    case DType::kInt4:
      low = -8, high = 7, range = "-8 to 7";
      break;
    case DType::kInt48:
      low = -(int64_t{1} << 47), high = -low - 1, range = "-2^47 to 2^47-1";
      break;
    default:
      return std::nullopt;
  }
  const auto width = static_cast<size_t>(machine_width(type));
  for (size_t at = 0; at + width <= bytes.size(); at += width) {
    const int64_t element = load_signed(bytes.data() + at, static_cast<int64_t>(width));
    if (element < low || element > high) return OutOfRange{static_cast<int64_t>(at / width), element, range};
  }
  return std::nullopt;
}

Difference compare(const Value& got, const Value& want) {
  if (got.type != want.type || got.shape != want.shape || got.bytes.size() != want.bytes.size()) {
    throw Error(contract::ErrorCode::kBug, "cannot compare a " + std::string(name(got.type)) + to_string(got.shape) +
                                               " with a " + std::string(name(want.type)) + to_string(want.shape));
  }
  const int64_t width = machine_width(got.type);
  Difference result;
  result.compared = static_cast<int64_t>(got.bytes.size()) / width;
  if (got.bytes == want.bytes) {
    return result;
  }
  for (int64_t i = 0; i < result.compared; ++i) {
    const uint8_t* a = got.bytes.data() + i * width;
    const uint8_t* b = want.bytes.data() + i * width;
    if (std::memcmp(a, b, static_cast<size_t>(width)) == 0) {
      continue;
    }
    ++result.differing;
    if (result.first < 0) {
      result.first = i;
    }
    if (is_integer(got.type)) {
      // Unsigned subtraction: INT48 and SHAPE fill 64 bits at most, so the distance always fits unless it is absurd.
      const int64_t x = load_signed(a, width);
      const int64_t y = load_signed(b, width);
      const uint64_t distance = x > y ? static_cast<uint64_t>(x) - static_cast<uint64_t>(y)
                                      : static_cast<uint64_t>(y) - static_cast<uint64_t>(x);
      result.max_absolute =
          std::max(result.max_absolute, static_cast<int64_t>(std::min<uint64_t>(distance, uint64_t{INT64_MAX})));
    }
  }
  return result;
}

}  // namespace npu::graph
