// SPDX-License-Identifier: Apache-2.0
#include "sim/cosim/device_time.h"

#include <numeric>
#include <vector>

#include "hw/timing/dma_cycles.h"
#include "hw/timing/table_cycles.h"

namespace npu::cosim {

TableOperations table_operations(const contract::Capabilities& caps) {
  const auto accesses = timing::TableAccesses::of(caps);
  std::vector<uint32_t> all(accesses.rows);
  std::iota(all.begin(), all.end(), 0u);
  return {accesses.rows,
          timing::table_cycles(accesses.begin_job()),
          timing::table_cycles(accesses.begin_job(all)),
          timing::table_cycles(accesses.declare(false)),
          timing::table_cycles(accesses.declare(true)),
          timing::table_cycles(accesses.check()),
          timing::table_cycles(accesses.begin_write()),
          timing::table_cycles(accesses.commit())};
}

uint64_t dma_walk_cycles() { return timing::kDmaWalkCycles; }

}  // namespace npu::cosim
