// SPDX-License-Identifier: Apache-2.0
// The sizes of a job, of a program that was compiled for sizes within bounds: what its inputs say, what it checks, and
// how large its outputs are. A program of fixed sizes has none.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "driver/compiler/program.h"
#include "driver/graph/value.h"

namespace npu::runtime {

// Bytes of what a condition says that messages show.
inline constexpr size_t kLongestCondition = 400;

// Its type, with the bounds of dimensions that are open: "INT8[1..64, 4]".
[[nodiscard]] std::string describe_port(const compiler::SizeTable& table, const compiler::Port& port);

// Throws Error: bad_input, or size_out_of_bounds with the dimension, when a value is none for this input.
void check_input(const compiler::SizeTable& table, const compiler::Port& port, const graph::Value& value);
// The same of a value of this type and shape, with so many bytes.
void check_input(const compiler::SizeTable& table, const compiler::Port& port, graph::DType type,
                 const graph::Shape& shape, uint64_t bytes);

// The value of each symbol, by the shapes of the inputs, which check_input() has accepted. Throws Error(size_mismatch)
// where inputs contradict each other, or a condition does not hold; as throw_damaged() where these leave undefined what
// words or results follow from.
[[nodiscard]] std::vector<int64_t> sizes_of(const compiler::Program& program, std::span<const graph::Shape> inputs);

// The shape of an output, or of a variable. Throws as throw_damaged() where it cannot be, or has no room.
[[nodiscard]] graph::Shape shape_of(const compiler::Port& output, const compiler::SizeValues& values);
[[nodiscard]] graph::Shape shape_of(const compiler::Variable& variable, const compiler::SizeValues& values);

// What a condition says, and what the sizes are: "x.0 must equal y.0, says ...: it is 5, and the other is 6".
[[nodiscard]] std::string describe_condition(const compiler::SizeTable::Condition& condition,
                                             const compiler::SizeValues& values);

// Throws Error(fault_sizes) where the device computed another value than the driver. `results` as job_sizes has them.
void compare_results(const compiler::SizeTable& table, const compiler::SizeValues& values,
                     std::span<const int64_t> results);

// Cycles of the control CPU's clock that the firmware takes at most for the sizes of a job.
[[nodiscard]] uint64_t firmware_cycles(const compiler::SizeTable& table);

}  // namespace npu::runtime
