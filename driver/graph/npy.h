// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy files: little endian, C order, plain element types.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "driver/graph/graph.h"
#include "driver/graph/value.h"

namespace npu::graph {

struct NpyArray {
  std::string descr;  // NumPy's name of the element type: "|i1", "<i4", "<f4", "|b1", "<V2", ...
  Shape shape;
  std::vector<uint8_t> bytes;
};

// Reads format versions 1 to 3. Throws Error: cannot_read; bad_npy for anything damaged (the file must be exactly as
// long as its header says), big endian, in Fortran order, or of an element type that no tensor has.
[[nodiscard]] NpyArray read_npy(const std::filesystem::path& path);
[[nodiscard]] NpyArray parse_npy(std::span<const uint8_t> file, std::string_view name);

// Writes under a temporary name and renames it, so that nothing half-written stays. Throws Error(cannot_write).
void write_npy(const std::filesystem::path& path, const NpyArray& array);
[[nodiscard]] std::vector<uint8_t> serialize_npy(const NpyArray& array);

// The array as a tensor of type `expected`: INT4 from int8, INT48 and SHAPE from int64 (in range), BOOL from bool, BF16
// from two raw bytes, FP8 from one, raw or uint8. With `accept_unsigned`, INT8 and INT16 also take uint8 and uint16
// (same bits). `expected_shape` may be null. `what` names the data in messages ("input 'x'"). Throws Error(bad_input).
[[nodiscard]] Value to_value(const NpyArray& array, DType expected, const Shape* expected_shape, bool accept_unsigned,
                             std::string_view what = "the array");
// The inverse; `as_unsigned` writes INT8 and INT16 as uint8 and uint16. BF16 and FP8 are written as the official tools
// do: "<V2", E4M3 "<V1", E5M2 "|u1".
[[nodiscard]] NpyArray to_npy(const Value& value, bool as_unsigned = false);

// Element `index` of the first axis; the array must have that axis and element.
[[nodiscard]] NpyArray slice_axis0(const NpyArray& array, int64_t index);
// Puts values of equal type and shape along a new first axis; at least one.
[[nodiscard]] Value stack(std::span<const Value> values);

}  // namespace npu::graph
