// SPDX-License-Identifier: Apache-2.0
#include "sim/cosim/device_time.h"

#include "hw/timing/dma_cycles.h"
#include "hw/timing/table_cycles.h"

namespace npu::cosim {

TableOperations table_operations(const contract::Capabilities& caps) {
  const auto accesses = timing::TableAccesses::of(caps);
  return {accesses.rows,
          timing::table_cycles(accesses.begin_job(0)),
          timing::table_cycles(accesses.begin_job(accesses.rows)),
          timing::table_cycles(accesses.declare()),
          timing::table_cycles(accesses.check()),
          timing::table_cycles(accesses.begin_write()),
          timing::table_cycles(accesses.commit())};
}

uint64_t dma_walk_cycles() { return timing::kDmaWalkCycles; }

}  // namespace npu::cosim
