// SPDX-License-Identifier: Apache-2.0
// What the requesters of a scratchpad want. Who has to wait does everything else later, too, as the units do.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "rtl/verilated/scratchpad.h"

namespace npu::cosim {

struct ScratchpadAccess {
  uint32_t pause = 0;  // cycles from the requester's access before it, or from the beginning, in which it asks nothing
  uint32_t word = 0;
  bool write = false;
  uint32_t strobe = 0;  // bytes of a write
  std::vector<uint8_t> data;
};

struct ScratchpadDemand {
  std::string kind;
  uint32_t first_word = 0, words = 0;                  // the part of the memory that is used
  std::vector<std::vector<ScratchpadAccess>> streams;  // of each requester, in order

  [[nodiscard]] uint64_t accesses() const;
  // The cycle behind the last access, without waiting.
  [[nodiscard]] uint64_t end() const;
};

// With `shared` banks all requesters compete; else each has banks of its own and asks in every
// cycle; those for whom none is left ask nothing.
[[nodiscard]] ScratchpadDemand random_demand(const rtl::Scratchpad::Sizes& sizes, std::mt19937_64& random, bool shared);

}  // namespace npu::cosim
