// SPDX-License-Identifier: Apache-2.0
// Makes the failure of a random graph small.
#pragma once

#include <functional>

namespace npu::test {

// The smallest size from 0 to `size`, which fails, at which `fails` says so. Sizes below it were tried, all of them: a
// graph of fewer operators may hide what fails.
[[nodiscard]] inline int least_failing(int size, const std::function<bool(int)>& fails) {
  for (int smaller = 0; smaller < size; ++smaller) {
    if (fails(smaller)) return smaller;
  }
  return size;
}

}  // namespace npu::test
