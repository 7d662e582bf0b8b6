// SPDX-License-Identifier: Apache-2.0
// A tensor value that leaves or enters the program: what an .npy file holds, and what a device or the reference takes
// and gives.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "driver/graph/graph.h"

namespace npu::graph {

// C order, little endian, one machine element each: BOOL 1 byte, INT4 and INT8 1, INT16 2, INT32 4, INT48 8 (int64),
// FP16 and BF16 2, FP32 4, SHAPE 8.
struct Value {
  DType type = DType::kUnknown;
  Shape shape;
  std::vector<uint8_t> bytes;
};

[[nodiscard]] int64_t machine_width(DType type);  // bytes an element takes in a Value
// Widens a constant from the file's packing (INT48, INT4) to machine elements.
[[nodiscard]] Value value_of_constant(const Tensor& tensor);

// An element that its type has no room for.
struct OutOfRange {
  int64_t index = 0, element = 0;
  const char* range = "";  // what the type holds: "-8 to 7"
};
// The first such element of machine elements: of BOOL, INT4 and INT48, which fill fewer bits than they take.
[[nodiscard]] std::optional<OutOfRange> find_out_of_range(DType type, std::span<const uint8_t> bytes);

struct Difference {
  int64_t compared = 0, differing = 0;
  int64_t first = -1;        // index of the first element that differs
  int64_t max_absolute = 0;  // integers only
};
// Element by element; throws Error(bug) when types or shapes differ.
[[nodiscard]] Difference compare(const Value& got, const Value& want);

}  // namespace npu::graph
