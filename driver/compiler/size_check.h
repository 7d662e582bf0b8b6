// SPDX-License-Identifier: Apache-2.0
// Whether the sizes of a program that comes from anywhere can be used.
#pragma once

#include <cstddef>
#include <string>

#include "driver/compiler/program.h"

namespace npu::compiler {

// That one compilation for sizes within bounds gives (compile_bounds()), at most.
inline constexpr size_t kMostPrograms = 32;

// What is wrong with them, as a clause ("rule 3 of its sizes has no pieces"); empty: nothing. Of a program without
// sizes nothing but the ports is looked at. Where it is empty, table and ports fit each other, the stream and the
// contract's limits; but a value may be undefined for some sizes, and an output may be too large.
[[nodiscard]] std::string find_size_damage(const Program& program);

}  // namespace npu::compiler
