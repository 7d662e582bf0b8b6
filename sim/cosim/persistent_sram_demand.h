// SPDX-License-Identifier: Apache-2.0
// What was asked of a persistent SRAM in a trial, to be asked of the device as well.
#pragma once

#include <cstdint>
#include <vector>

#include "hw/timing/table_cycles.h"

namespace npu::cosim {

struct PersistentSramDemand {
  struct Access {
    uint64_t pause = 0;  // cycles from the one behind the last access that was taken, or from the beginning
    bool part = false;   // writes a part of a word
  };
  struct Operation {
    uint64_t pause = 0;  // likewise
    timing::TableOperation operation;
  };
  std::vector<Access> accesses;
  std::vector<Operation> operations;
};

// Cycles until the device's crossbar has given the last answer, or ended the last operation.
[[nodiscard]] uint64_t device_cycles(const PersistentSramDemand& demand, uint32_t port_bytes);

}  // namespace npu::cosim
