// SPDX-License-Identifier: Apache-2.0
// What the reference says about an MXU tile.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tests/unit/engine/mxu_case.h"

namespace npu::rtl::test {

// The results of a tile in order [row][column][channel], from the operator that it stands for (CONV2D, DEPTHWISE_CONV2D
// or MATMUL) and the reference's scaling. Nothing where the specification knows no such operator (negative padding, a
// stride that does not divide, zero points of 16-bit types) or leaves its result open, as it does the order in which
// floating point is summed.
[[nodiscard]] std::optional<std::vector<int64_t>> by_reference(const engine::testing::MxuCase& test,
                                                               const engine::testing::MxuShape& shape);

}  // namespace npu::rtl::test
