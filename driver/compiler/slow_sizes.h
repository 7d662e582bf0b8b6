// SPDX-License-Identifier: Apache-2.0
// More programs for sizes that one program for all of them is slow at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "driver/compiler/program.h"
#include "driver/compiler/size_choices.h"

namespace npu::compiler {

struct SlowSizesOptions {
  size_t most_programs = 1;
  uint64_t most_bytes = 0;                                // of device memory, all programs together
  std::function<uint64_t(const Program& program)> bytes;  // of it
  // For the first of some choices of sizes, which is the largest, and for those of the others that fit its layout. May
  // throw Error: these get none then.
  std::function<Program(std::vector<size_t> choices)> compile;
  // Estimated: of a choice in a program, and in one that is for this choice alone.
  std::function<uint64_t(const Program& program, size_t choice)> cycles;
  std::function<uint64_t(size_t choice)> cycles_alone;
  std::function<void(size_t done, size_t all)> progress;  // may be empty
};

// Adds programs to those that are for all of the choices, the slowest sizes first, until none of those that it looks at
// takes many more cycles than in a program for it alone, or nothing helps, or there are as many as may be.
// Sizes take the first of them within whose bounds they are, and each of the choices is within some.
void add_programs_for_slow_sizes(const SizeChoices& choices, const SlowSizesOptions& options,
                                 std::vector<Program>& programs);

}  // namespace npu::compiler
