// SPDX-License-Identifier: Apache-2.0
// The programs of a graph that leaves sizes open, by the sizes that an invocation brings.
#pragma once

#include <cstdint>
#include <memory>

#include "driver/graph/resolve.h"
#include "driver/runtime/runtime.h"

namespace npu::specialise {

struct SizedProgram {
  runtime::LoadedProgram program;
  uint64_t bytes = 0;  // of device memory, in whole pages
};

struct CacheCounts {
  uint64_t hits = 0;        // sizes that had a program
  uint64_t misses = 0;      // programs that were compiled, or loaded
  uint64_t compiled = 0;    // programs that were compiled for bounds, before any was asked for
  uint64_t evictions = 0;   // programs that were dropped
  uint64_t programs = 0;    // that are there now
  uint64_t bytes = 0;       // that these take of device memory
  uint64_t most_bytes = 0;  // that all took at a time
};

// One thread at a time may use it.
class SizedPrograms {
 public:
  virtual ~SizedPrograms() = default;
  // The program of these sizes, as resolve() takes them; all are in one context, so its variables go on.
  [[nodiscard]] virtual std::shared_ptr<const SizedProgram> get(const graph::GivenShapes& sizes) = 0;
  [[nodiscard]] virtual const CacheCounts& counts() const = 0;
};

}  // namespace npu::specialise
