// SPDX-License-Identifier: Apache-2.0
// What the mutator draws: elements of lists, and numbers that are small or at a limit.
#pragma once

#include <cstdint>
#include <iterator>

#include "tests/fuzz/random.h"

namespace npu::fuzz {

class Draw : public Random {
 public:
  using Random::Random;

  // Of a list that is not empty.
  template <typename List>
  auto& any(List& list) {
    return list[below(std::size(list))];
  }
  // Mostly small: large numbers end in a budget.
  int64_t number() { return one_in(12) ? any(kExtremes) : static_cast<int64_t>(below(7)); }
  int32_t signed_number() { return static_cast<int32_t>(one_in(4) ? -number() : number()); }

 private:
  static constexpr int64_t kExtremes[] = {0,   -1,  31,   32,   63,    64,        127,
                                          255, 256, 2048, 8192, 65536, INT32_MAX, INT32_MIN};
};

}  // namespace npu::fuzz
