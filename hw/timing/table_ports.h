// SPDX-License-Identifier: Apache-2.0
// When the variable table asks for the persistent SRAM during an operation.
#pragma once

#include <cstdint>

#include "hw/timing/ports.h"
#include "hw/timing/table_cycles.h"

namespace npu::timing {

// From the cycle in which the operation is taken. With every access granted at once it takes table_cycles() cycles.
class TablePorts final : public SteppedSchedule<TablePorts> {
 public:
  TablePorts() = default;
  // `late`: it is taken in the cycle behind this one.
  explicit TablePorts(uint64_t accesses, bool late = false) : left_(accesses), gap_(late ? 2 : 1) {}

  [[nodiscard]] Ports asking() const override { return gap_ == 0 && left_ > 0 ? 1 : 0; }
  void step(Ports granted) override {
    if (granted != 0) {
      --left_;
      gap_ = kTableAccessCycles - 1;
    } else if (gap_ > 0) {
      --gap_;
    }
  }
  [[nodiscard]] bool done() const override { return left_ == 0 && gap_ == 0; }
  [[nodiscard]] uint64_t left() const { return left_; }

 private:
  uint64_t left_ = 0, gap_ = 0;  // accesses; cycles until the next one, or the end
};

}  // namespace npu::timing
